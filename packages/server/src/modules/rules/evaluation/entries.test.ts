import { expect, test } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { editRule } from '../write-rule.ts';

const stage = await openStage();

const steps = [{ draft: { subject: 'You did it', body: 'Well done.' } }];

/** A rule on `did`, in a project where only the enrollment setting limits how many emails a user gets. */
async function withRule(enrollment: object | string, more: object = {}): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off', quiet_hours: 'off' });
  await scenario.rule({ name: 'Did', when: { event: 'did' }, enrollment, steps, ...more });
  await scenario.user('u1', { email: 'a@x.org' });
  await scenario.user('u2', { email: 'b@x.org' });
  return scenario;
}

async function did(
  scenario: Scenario,
  properties: Record<string, unknown> = {},
  afterwards = 0,
): Promise<void> {
  await scenario.event('u1', 'did', properties);
  await scenario.later(afterwards);
}

const keys = async (scenario: Scenario): Promise<string[]> =>
  (await scenario.runs('u1', 'Did')).map(({ key }) => key);

test('once: enrolls a user on the first event, and never again', async () => {
  const scenario = await withRule('once');
  await did(scenario, {}, 400 * DAY);
  await did(scenario, {}, DAY);
  await scenario.event('u2', 'did');
  await scenario.later(DAY);
  expect((await scenario.emails()).map(({ to }) => to)).toEqual(['u1', 'u2']);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 1, claimed: 1, already_entered: 1 });
});

test('once: does not enroll a user again after an edit of the rule', async () => {
  const scenario = await withRule('once');
  await did(scenario, {}, DAY);
  const document = {
    when: { event: 'did' },
    steps: [{ draft: { subject: 'Again', body: 'Well done again.' } }],
  };
  const { projectId } = scenario;
  await editRule(scenario.server.db, {
    projectId,
    reference: 'Did',
    document,
    includeOpen: false,
    actor: 'ann',
  });
  await did(scenario, {}, DAY);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 1, claimed: 1, already_entered: 1 });
});

test('once_per: enrolls once per set of values, and treats a missing value as one', async () => {
  const scenario = await withRule({ once_per: ['plan', 'seats'] });
  for (const properties of [
    { plan: 'pro', seats: 1 },
    { seats: 1, plan: 'pro', other: true },
    { plan: 'pro', seats: '1' },
    { plan: 'team', seats: 1 },
    { plan: 'team' },
    { plan: 'team', seats: null },
    {},
    {},
  ])
    await did(scenario, properties, HOUR);
  await scenario.later(40 * DAY);
  await did(scenario, { plan: 'pro', seats: 1 }, DAY);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 5, already_entered: 4, claimed: 5 });
  expect(new Set(await keys(scenario)).size).toBe(5);
});

test('one_at_a_time: enrolls a user again only after the run ended', async () => {
  const scenario = await withRule('one_at_a_time', { steps: [...steps, { wait: '3d' }, ...steps] });
  await did(scenario, {}, DAY);
  await did(scenario, {}, 2 * DAY);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 1, claimed: 1, in_progress: 1 });
  // The second email is sent three days after the first and ends the run.
  await scenario.later(5 * HOUR);
  expect(await scenario.runs('u1', 'Did')).toMatchObject([{ state: 'ended', end_reason: 'done' }]);
  await did(scenario, {}, 10 * DAY);
  expect(await scenario.emails()).toHaveLength(4);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 2, claimed: 4, in_progress: 1 });
});

test('one_at_a_time: enrolls a user again who leaves and returns within one batch', async () => {
  const scenario = await withRule('one_at_a_time', { exits: { events: ['left'] } });
  await did(scenario, {}, HOUR);
  const events = ['left', 'did', 'did', 'left', 'did'].map((name) => ({ external_user_id: 'u1', name }));
  await scenario.post('events/batch', { events });
  await scenario.later(DAY);
  const ends = (await scenario.runs('u1', 'Did')).map((run) => String(run.end_reason)).toSorted();
  expect(ends).toEqual(['done', 'exit_event', 'exit_event']);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 3, in_progress: 1, claimed: 1 });
  expect(await scenario.emails()).toHaveLength(1);
});

test('one_at_a_time: starts the next run on the event that ends the current one', async () => {
  const scenario = await withRule('one_at_a_time', { exits: { events: ['did'] } });
  await did(scenario, {}, HOUR);
  await did(scenario, {}, HOUR);
  await scenario.later(DAY);
  expect((await scenario.runs('u1', 'Did')).map((run) => run.end_reason)).toEqual(['exit_event', 'done']);
  expect(await scenario.emails()).toHaveLength(1);
});

test('cooldown: enrolls again exactly when the time since the last entry is over', async () => {
  const scenario = await withRule({ cooldown: '7d' });
  await did(scenario, {}, 7 * DAY - 1);
  await did(scenario, {}, 1);
  await did(scenario, {}, 7 * DAY - 1);
  await did(scenario, { plan: 'another' }, DAY);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 2, claimed: 2, in_cooldown: 2 });
  expect(await keys(scenario)).toEqual(['', '']);
});

test('cooldown: is not restarted by a refused event', async () => {
  const scenario = await withRule({ cooldown: '2d' });
  for (let day = 0; day < 6; day += 1) await did(scenario, {}, DAY);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 3, claimed: 3, in_cooldown: 3 });
});

test('cooldown per key with again: enrolls once more within it on the first event that passes the filter', async () => {
  const scenario = await withRule({
    cooldown: '30d',
    per: ['meter'],
    again: { property: 'percent', at_least: 100 },
  });
  const used = (meter: string, percent: number): Promise<void> => did(scenario, { meter, percent }, DAY);
  await used('seats', 80);
  await used('seats', 99);
  await used('storage', 100);
  await used('storage', 80);
  await used('storage', 120);
  await used('seats', 100);
  await used('seats', 130);
  expect((await keys(scenario)).toSorted()).toEqual(['seats', 'seats', 'storage']);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 3, claimed: 3, in_cooldown: 4 });
  await scenario.later(30 * DAY);
  await used('seats', 10);
  await used('seats', 100);
  expect((await keys(scenario)).toSorted()).toEqual(['seats', 'seats', 'seats', 'seats', 'storage']);
});

test('measures the age of an event from when it occurred, and applies max_event_age', async () => {
  const scenario = await withRule({ cooldown: '1m' }, { max_event_age: '2h' });
  const ago = (ms: number): { occurred_at: string } => ({
    occurred_at: new Date(scenario.now() - ms).toISOString(),
  });
  await scenario.event('u1', 'did', {}, ago(2 * HOUR + 1));
  await scenario.event('u1', 'did', {}, ago(2 * HOUR));
  await scenario.later(DAY);
  expect(await scenario.why('u1', 'Did')).toEqual({ fired: 1, too_old: 1, claimed: 1 });
});

test('uses up no entry while only_if does not hold, and evaluates it with all facts known by then', async () => {
  const scenario = await withRule('once', { only_if: { trait: 'plan', equals: 'pro' } });
  await did(scenario, {}, HOUR);
  await scenario.event('u1', 'did');
  await scenario.user('u1', { traits: { plan: 'pro' } });
  await scenario.later(DAY);
  expect(await scenario.why('u1', 'Did')).toEqual({ only_if: 1, fired: 1, claimed: 1 });
});

test('starts nothing for events accepted before the rule was created, whenever they are processed', async () => {
  const scenario = await newScenario(stage);
  await scenario.user('u1', { email: 'a@x.org' });
  await scenario.event('u1', 'did');
  scenario.server.clock.advance(1);
  await scenario.rule({ name: 'Did', when: { event: 'did' }, steps });
  await scenario.later(DAY);
  expect(await scenario.why('u1', 'Did')).toEqual({ before_enable: 1 });
  await scenario.event('u1', 'did');
  await scenario.later(DAY);
  expect(await scenario.emails()).toHaveLength(1);
});

const LATER = { relative_to: { event: 'did' }, after: '30d' };
const PRO = { trait: 'plan', equals: 'pro' };

test('once: sets a timer for each event until one enrolls the user', async () => {
  const scenario = await withRule('once', { when: LATER, only_if: PRO });
  const at = scenario.now();
  await did(scenario, {}, 10 * DAY);
  await did(scenario, {}, 10 * DAY);
  await did(scenario, {}, 15 * DAY);
  await scenario.user('u1', { traits: { plan: 'pro' } });
  await scenario.later(5 * DAY + HOUR);
  expect((await scenario.drafts()).map(({ createdAt }) => createdAt)).toEqual([at + 40 * DAY]);
  await did(scenario, {}, 40 * DAY);
  const why = { starts_later: 3, only_if: 1, fired: 1, claimed: 1, already_entered: 2 };
  expect(await scenario.why('u1', 'Did')).toEqual(why);
});

test('once_per: sets at most one timer per key and day', async () => {
  const scenario = await withRule({ once_per: ['plan'] }, { when: LATER });
  for (const plan of ['pro', 'pro', 'team']) await did(scenario, { plan }, HOUR);
  await scenario.later(DAY);
  await did(scenario, { plan: 'pro' }, HOUR);
  const timers = await scenario.server.db.query(`SELECT 1 FROM beckon.rule_timer WHERE project_id = $1`, [
    scenario.projectId,
  ]);
  expect(timers).toHaveLength(3);
  await scenario.later(40 * DAY);
  expect((await keys(scenario)).toSorted()).toEqual(['pro', 'team']);
});
