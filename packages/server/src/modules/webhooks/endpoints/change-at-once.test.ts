import { afterAll, expect, test } from 'vitest';
import { untilSomebodyWaits } from '../../../../testing/factories/database.ts';
import { webhookStage } from '../../../../testing/factories/webhook-stage.ts';
import { requireEndpoint } from './require-endpoint.ts';
import { updateDisabled } from './store.ts';
import { runRound } from '../dispatch/round.ts';
import { changeEndpoint } from './change-endpoint.ts';

const stage = await webhookStage();
const { db, hooks } = stage;
afterAll(() => stage.close());

const ANSWER = { kind: 'answered', status: 500, retryAfter: null, text: 'not now' } as const;

async function untilWaiting(count: number): Promise<void> {
  const waiting = () =>
    db.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  await expect.poll(waiting).toHaveLength(count);
}

test('keeps both of two changes that wait for the same endpoint', async () => {
  const projectId = await stage.project();
  const key = { projectId, endpointId: (await stage.endpoint(projectId, '/before')).id };
  const deps = { db, rules: { allowPrivate: true } };
  const changes: Promise<unknown>[] = [];
  await db.transaction(async (tx) => {
    await requireEndpoint(tx, key);
    changes.push(changeEndpoint(deps, key, { url: hooks.url('/after') }));
    await untilWaiting(1);
    changes.push(changeEndpoint(deps, key, { types: ['email.clicked'] }));
    await untilWaiting(2);
  });
  await Promise.all(changes);
  const { endpoint } = await db.transaction((tx) => requireEndpoint(tx, key));
  expect(endpoint).toMatchObject({ url: hooks.url('/after'), types: ['email.clicked'] });
});

test('claims no deliveries of an endpoint that is disabled while a round waits for it', async () => {
  const projectId = await stage.project();
  const key = { projectId, endpointId: (await stage.endpoint(projectId, '/off')).id };
  await stage.queue(projectId, 2);
  const { claimed } = await runRound(db, { attempts: [], projectIds: [projectId], capacity: 1 });
  const attempts = claimed.map((delivery) => ({ delivery, result: { ...ANSWER, endedAt: db.clock.now() } }));
  const rounds = await db.transaction(async (tx) => {
    await requireEndpoint(tx, key);
    await updateDisabled(tx, { ...key, at: db.clock.now(), reason: 'manual' });
    const round = runRound(db, { attempts, projectIds: [projectId], capacity: 5 });
    await untilSomebodyWaits(db);
    return [round];
  });
  const [round] = await Promise.all(rounds);
  expect(round?.claimed.map(({ webhookId }) => webhookId)).toEqual([]);
  expect(await stage.deliveries(projectId)).toMatchObject([{ state: 'missed' }, { state: 'missed' }]);
});
