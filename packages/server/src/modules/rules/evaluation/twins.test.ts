import { afterAll, expect, test } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { openEngine } from '../../../../testing/factories/engine.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { silentLog } from '../../../platform/log.ts';
import { openDatabase } from '../../../platform/db/database.ts';

/** Two workers, each with its own connections, models and transport. */
const stage = await openStage();
const twinDb = await openDatabase({
  connection: stage.server.database.connection,
  clock: stage.server.clock,
  log: silentLog,
});
const twin = openEngine(twinDb, stage.server.clock);
afterAll(() => twinDb.close());

const steps = [{ draft: { subject: 'You did it', body: 'Well done.' } }];
const KEYS = ['a', 'b', 'c', 'd', 'e'];
const TRIGGERS = 1_000;
const EACH = 25;

async function withRules(): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off', quiet_hours: 'off', throttle: 'off' });
  const again = { property: 'n', at_least: 999 };
  for (const [name, enrollment] of [
    ['Once', 'once'],
    ['Per key', { once_per: ['key'] }],
    ['Single', 'one_at_a_time'],
    ['Cooldown', { cooldown: '1d' }],
    ['Again', { cooldown: '1d', per: ['key'], again }],
  ] as const)
    await scenario.rule({ name, when: { event: 'did' }, enrollment, steps });
  await scenario.user('u1', { email: 'a@x.org' });
  await scenario.later(0);
  return scenario;
}

async function isWaiting({ server, projectId }: Scenario): Promise<boolean> {
  const rows = await server.db.query(`SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 LIMIT 1`, [
    projectId,
  ]);
  return rows.length > 0;
}

/** Lets both workers process records until none wait and no more are sent. */
async function processTogether(scenario: Scenario, sending: Promise<unknown>): Promise<number[]> {
  let isSending = true;
  const sent = sending.finally(() => (isSending = false));
  const counts = await Promise.all(
    [stage.engine, twin].map(async ({ processor }, i) => {
      let records = 0;
      // The batches have different sizes, so that the workers do not run in step.
      while (isSending || (await isWaiting(scenario)))
        records += (await processor.batch('live', [scenario.projectId], 7 + 6 * i)).records;
      return records;
    }),
  );
  await sent;
  return counts;
}

const entered = (scenario: Scenario): Promise<{ name: string; key: string; runs: number }[]> =>
  scenario.server.db.query(
    `SELECT r.name, u.key, count(*)::int AS runs FROM beckon.run u
     JOIN beckon.rule r ON r.project_id = u.project_id AND r.id = u.rule_id
     WHERE u.project_id = $1 GROUP BY 1, 2 ORDER BY 1, 2`,
    [scenario.projectId],
  );

test('starts one run per enrollment key and sends one email for each, with 1,000 equal triggers and two workers', async () => {
  const scenario = await withRules();
  const events = Array.from({ length: TRIGGERS }, (_, n) => ({
    external_user_id: 'u1',
    name: 'did',
    properties: { key: KEYS[n % KEYS.length], n },
  }));
  const batches = Array.from({ length: TRIGGERS / EACH }, (_, i) => events.slice(i * EACH, (i + 1) * EACH));
  const sending = Promise.all(batches.map((batch) => scenario.post('events/batch', { events: batch })));
  const counts = await processTogether(scenario, sending);
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts[1]).toBeGreaterThan(0);
  expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(TRIGGERS);
  const entryOf = (name: string, key = ''): object => ({ name, key, runs: 1 });
  // The key whose event passes the filter of `again` has a second run, unless that event was the first of its key.
  const again = (await entered(scenario)).filter(({ name }) => name === 'Again');
  expect(again.map(({ key }) => key)).toEqual(KEYS);
  expect(again.slice(0, -1).every(({ runs }) => runs === 1)).toBe(true);
  expect(again.at(-1)?.runs).toBeLessThanOrEqual(2);
  expect((await entered(scenario)).filter(({ name }) => name !== 'Again')).toEqual([
    entryOf('Cooldown'),
    entryOf('Once'),
    ...KEYS.map((key) => entryOf('Per key', key)),
    entryOf('Single'),
  ]);
  const considered = await scenario.server.db.query<{ n: number }>(
    `SELECT sum(count)::int AS n FROM beckon.decision WHERE project_id = $1`,
    [scenario.projectId],
  );
  expect(considered).toEqual([{ n: TRIGGERS * 5 }]);

  // Two senders at the same time send every draft once.
  const drafts = await scenario.drafts();
  stage.server.clock.advance(2 * HOUR);
  const before = [stage.engine, twin].map(({ transport }) => transport.emails.length);
  const workers = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? stage.engine : twin));
  await Promise.all(workers.map(({ sender }) => sender.batch(scenario.projectId)));
  await stage.engine.settle();
  const sent = [stage.engine, twin].flatMap(({ transport }, i) => transport.emails.slice(before[i]));
  expect(sent.map(({ draftId }) => draftId).toSorted()).toEqual(drafts.map(({ id }) => id).toSorted());
});
