import { expect, test } from 'vitest';
import { survivesOutages } from '../../../../testkit/cases/unavailable.ts';
import type { Answer } from '../../../../testkit/client.ts';
import { endpointServer, newCaller, NOTHING_STORED } from '../../../../testkit/endpoint-server.ts';
import { EVENTS } from '../../../../testkit/endpoints.ts';

const server = await endpointServer();

survivesOutages(server, EVENTS);

/** Another hand on the project's lane, as that of a server that hangs. */
async function holdingLane(projectId: number, during: () => Promise<void>): Promise<void> {
  await server.db.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM beckon.lane WHERE project_id = $1 FOR UPDATE', [projectId]);
    await during();
  });
}

test('what cannot be committed within 5 s is 503 to everybody who waits for it, and is not stored later', async () => {
  const caller = await newCaller(server, EVENTS);
  await holdingLane(caller.id, async () => {
    const answers = await Promise.all([
      caller.send({ once: 'k' }),
      caller.send({ once: 'k' }),
      caller.send({ once: 'k', body: {} }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([503, 503, 422]);
    expect(answers[0]?.headers['retry-after']).toBe('1');
  });
  expect(await caller.stored()).toEqual(NOTHING_STORED);
  const retry = await caller.send({ once: 'k' });
  expect([retry.status, retry.headers['idempotent-replayed']]).toEqual([202, undefined]);
});

test('a twin that comes while the first is being committed waits for it and hears its answer', async () => {
  const caller = await newCaller(server, EVENTS);
  let answers: Promise<Answer[]> = Promise.resolve([]);
  await holdingLane(caller.id, async () => {
    answers = Promise.all([
      caller.send({ once: 'k' }),
      caller.send({ once: 'k' }),
      caller.send({ once: 'k', body: {} }),
    ]);
    // Until the flush stands at the lane.
    for (let waiting = 0; waiting === 0;) {
      const [row] = await server.db.query<{ n: number }>(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      waiting = row?.n ?? 0;
    }
  });
  expect((await answers).map((answer) => [answer.status, answer.errors[0]?.code])).toEqual([
    [202, undefined],
    [202, undefined],
    [422, 'idempotency_key_reuse'],
  ]);
  expect(await caller.stored()).toMatchObject({ waiting: 1, keys: 1 });
});
