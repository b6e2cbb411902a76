import { afterAll, expect, test } from 'vitest';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { webhookStage } from '../../../testing/factories/webhook-stage.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { runRound } from '../webhooks/dispatch/round.ts';
import { erasePerson } from './erase-user.ts';

const stage = await webhookStage();
const { db, newId } = stage;
afterAll(() => stage.close());

const ANSWER = { kind: 'answered', status: 500, retryAfter: null, text: 'ann is unknown' } as const;

/** Returns a delivery about `ann` that is in flight, and the answer to record. */
async function inFlight() {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/erased');
  await stage.queue(projectId, 1, { userId: 'ann' });
  const { claimed } = await runRound(db, { attempts: [], projectIds: [projectId], capacity: 1 });
  const attempts = claimed.map((delivery) => ({ delivery, result: { ...ANSWER, endedAt: db.clock.now() } }));
  return { projectId, round: { attempts, projectIds: [], capacity: 0 } };
}

type Transaction = Database['transaction'];

/** Returns a pause for a transaction: it waits in `pause`, which resolves `reached`, until `resume`. */
function pausePoint(): { reached: Promise<void>; pause: () => Promise<void>; resume: () => void } {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    pause() {
      reached.resolve();
      return gate.promise;
    },
    resume: () => gate.resolve(),
  };
}

async function somebodyWaits(): Promise<void> {
  await expect
    .poll(() =>
      db.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ),
    )
    .not.toEqual([]);
}

test('keeps no answer that is recorded while its user is erased', async () => {
  const { projectId, round } = await inFlight();
  const { reached, pause, resume } = pausePoint();
  const transaction: Transaction = (work) =>
    db.transaction(async (tx: Tx) => {
      const result = await work(tx);
      await pause();
      return result;
    });
  const erased = erasePerson(
    { db: { clock: db.clock, transaction }, newId, hasher: testHasher },
    { projectId, userId: 'ann' },
  );
  await reached;
  const recorded = runRound(db, round);
  await somebodyWaits();
  resume();
  await Promise.all([erased, recorded]);
  expect(await stage.deliveries(projectId)).toMatchObject([{ attempts: [{ status: 500, response: null }] }]);
});

test('keeps no name in an answer if its user is erased while it is recorded', async () => {
  const { projectId, round } = await inFlight();
  const { reached, pause, resume } = pausePoint();
  const session: Database['session'] = async (options) => {
    const opened = await db.session(options);
    return {
      ...opened,
      script: async (text) => {
        if (text === 'COMMIT') await pause();
        return opened.script(text);
      },
    };
  };
  const recorded = runRound({ clock: db.clock, session }, round);
  await reached;
  const erased = erasePerson({ db, newId, hasher: testHasher }, { projectId, userId: 'ann' });
  await somebodyWaits();
  resume();
  await Promise.all([erased, recorded]);
  expect(await stage.deliveries(projectId)).toMatchObject([{ attempts: [{ status: 500, response: null }] }]);
});
