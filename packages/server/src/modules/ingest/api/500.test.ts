import { FAULT_MESSAGES } from '@beckon/contract';
import { expect, test } from 'vitest';
import { ALL_ENDPOINTS, bodyOf, record } from '../../../../testing/factories/endpoints.ts';
import { endpointServer, newCaller, NOTHING_STORED } from '../../../../testing/servers/endpoint-server.ts';

const server = await endpointServer();

/** Makes the database refuse every ingest record. The server must never write a row that the database refuses, so this simulates a bug. */
async function whileInboxRefuses(during: () => Promise<void>): Promise<void> {
  await server.db.query('ALTER TABLE beckon.ingest_queue ADD CONSTRAINT bug CHECK (records = 0) NOT VALID');
  try {
    await during();
  } finally {
    await server.db.query('ALTER TABLE beckon.ingest_queue DROP CONSTRAINT bug');
  }
}

test.each(ALL_ENDPOINTS)(
  '$path: answers 500 to a bug of ours, without details, and keeps the Idempotency-Key unused',
  async (facts) => {
    const caller = await newCaller(server, facts);
    await whileInboxRefuses(async () => {
      for (const once of ['k', undefined, 'k']) {
        const { status, errors, text } = await caller.send(once === undefined ? {} : { once });
        const expected = [{ code: 'server_error', message: FAULT_MESSAGES.server_error }];
        expect([status, errors]).toEqual([500, expected]);
        expect(text).not.toMatch(/ingest_queue|constraint|beckon|at /i);
      }
    });
    expect(await caller.stored()).toEqual(NOTHING_STORED);
    const retry = await caller.send({ once: 'k' });
    expect([retry.status, retry.headers['idempotent-replayed']]).toEqual([facts.accepted, undefined]);
  },
);

test('a bug in one request does not affect those that shared its commit', async () => {
  for (const facts of ALL_ENDPOINTS.filter(({ kind }) => kind !== 'bulk')) {
    const [caller, broken] = [await newCaller(server, facts), await newCaller(server, facts)];
    await server.db.query(
      `ALTER TABLE beckon.ingest_queue ADD CONSTRAINT bug CHECK (project_id <> ${broken.id}) NOT VALID`,
    );
    const body = bodyOf(facts, [record(facts)]);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i === 10 ? broken : caller).send({ body, once: `k${i}` })),
    );
    await server.db.query('ALTER TABLE beckon.ingest_queue DROP CONSTRAINT bug');
    expect(responses.map((response) => response.status)).toEqual(
      responses.map((_, i) => (i === 10 ? 500 : facts.accepted)),
    );
    expect([await caller.stored(), await broken.stored()]).toMatchObject([
      { waiting: 19, keys: 19 },
      NOTHING_STORED,
    ]);
  }
});
