import { expect, test } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, type EventSent, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { listBuilding } from '../../audiences/build-version.ts';
import { createAudience } from '../../audiences/change-audience.ts';
import { listRuleNeeds } from '../runs/rules-in-force.ts';

const stage = await openStage();

const steps = [{ draft: { subject: 'You did it', body: 'Well done.' } }];
const of = (userId: string, name: string, properties: Record<string, unknown> = {}): EventSent => ({
  external_user_id: userId,
  name,
  properties,
});
const suppressed = (scenario: Scenario, events: EventSent[]): Promise<unknown> =>
  scenario.post('events/batch', { events, suppressTriggers: true });

async function withUser(): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off', quiet_hours: 'off' });
  await scenario.user('u1', { email: 'a@x.org' });
  return scenario;
}

const rules = async (scenario: Scenario): Promise<string[]> =>
  (await scenario.emails()).map(({ rule }) => rule).toSorted();

test('uses up the entries of welcome and onboarding_stall by an imported sign-up', async () => {
  const scenario = await withUser();
  await suppressed(scenario, [of('u1', 'user_signed_up')]);
  await scenario.later(HOUR);
  await scenario.event('u1', 'login');
  await scenario.later(HOUR);
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(10 * DAY);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.why('u1', 'welcome')).toEqual({ suppressed: 1, already_entered: 1 });
  expect(await scenario.why('u1', 'onboarding_stall')).toEqual({
    suppressed: 1,
    starts_later: 1,
    already_entered: 1,
  });
});

test('does not use up entries with a key, a cooldown or one_at_a_time by an import', async () => {
  const scenario = await withUser();
  await scenario.rule({
    name: 'Per plan',
    when: { event: 'did' },
    enrollment: { once_per: ['plan'] },
    steps,
  });
  await scenario.rule({ name: 'Single', when: { event: 'did' }, enrollment: 'one_at_a_time', steps });
  await scenario.rule({ name: 'Once', when: { event: 'did' }, steps });
  await suppressed(scenario, [
    of('u1', 'did', { plan: 'pro' }),
    of('u1', 'usage_threshold_reached', { usagePercent: 90, meter: 'seats' }),
  ]);
  await scenario.later(HOUR);
  await scenario.event('u1', 'did', { plan: 'pro' });
  await scenario.event('u1', 'usage_threshold_reached', { usagePercent: 90, meter: 'seats' });
  await scenario.later(DAY);
  expect(await rules(scenario)).toEqual(['Per plan', 'Single', 'plan_limit_upsell']);
  expect(await scenario.why('u1', 'Once')).toEqual({ suppressed: 1, already_entered: 1 });
});

test('fires for nothing accepted before a suppression is lifted, but for the event that lifts it', async () => {
  const scenario = await withUser();
  await suppressed(scenario, [of('u1', 'usage_threshold_reached', { usagePercent: 95, meter: 'seats' })]);
  await scenario.event('u1', 'usage_threshold_reached', { usagePercent: 96, meter: 'storage' });
  await scenario.later(DAY);
  expect((await scenario.emails()).map(({ subject }) => subject)).toEqual([
    'You have used 96% of your storage',
  ]);
  expect(await scenario.why('u1', 'plan_limit_upsell')).toEqual({ suppressed: 1, fired: 1, claimed: 1 });
});

test('suppresses a live event that is processed with a later suppressed batch, and does not lift by a user record', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'usage_threshold_reached', { usagePercent: 95, meter: 'seats' });
  await suppressed(scenario, [of('u1', 'login')]);
  await scenario.later(HOUR);
  await scenario.user('u1', { traits: { plan: 'pro' } });
  await scenario.later(DAY);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.why('u1', 'plan_limit_upsell')).toEqual({ suppressed: 1 });
});

test('starts nothing by a record accepted before the lift, in the same batch as the lifting event or not', async () => {
  const scenario = await withUser();
  await scenario.user('u2', { email: 'b@x.org' });
  const when = { relative_to: { trait: 'renewalDate' }, before: '7d' };
  await scenario.rule({ name: 'Renewal', when, steps });
  await suppressed(scenario, [of('u1', 'login'), of('u2', 'login')]);
  await scenario.later(HOUR);
  const traits = { renewalDate: new Date(scenario.now() + 10 * DAY).toISOString() };
  await scenario.user('u1', { traits });
  await scenario.later(HOUR);
  await scenario.event('u1', 'login');
  await scenario.user('u2', { traits });
  await scenario.event('u2', 'login');
  await scenario.later(9 * DAY);
  expect(await scenario.emails()).toEqual([]);
  for (const userId of ['u1', 'u2']) expect(await scenario.why(userId, 'Renewal')).toEqual({ suppressed: 1 });
});

test('uses imported history in conditions, exit conditions and the trial that a rule is about', async () => {
  const scenario = await withUser();
  const condition = { event: 'did' };
  await scenario.rule({ name: 'Done', when: { event: 'asked' }, only_if: condition, steps });
  await scenario.rule({ name: 'Not done', when: { event: 'asked' }, exits: { when: condition }, steps });
  const occurred_at = new Date(scenario.now() - 3 * DAY).toISOString();
  await suppressed(scenario, [
    { ...of('u1', 'did'), occurred_at },
    of('u1', 'trial_started', { trialDays: 30 }),
  ]);
  await scenario.later(HOUR);
  await scenario.event('u1', 'asked');
  await scenario.event('u1', 'trial_expiring', { trialDays: 2 });
  await scenario.later(DAY);
  expect(await rules(scenario)).toEqual(['Done', 'trial_expiring']);
  expect(await scenario.why('u1', 'Not done')).toEqual({ exit_condition: 1 });
  // The run is about the imported trial.
  expect((await scenario.runs('u1', 'trial_expiring'))[0]?.key).not.toBe('none');
});

test('continues open runs and drafts while triggers are suppressed', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(HOUR);
  await suppressed(scenario, [of('u1', 'login')]);
  await scenario.later(DAY);
  expect(await rules(scenario)).toEqual(['welcome']);
  await scenario.later(10 * DAY);
  expect(await scenario.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1, suppressed: 1 });
});

test('starts a rule for a user who joins by a live record, but not by a bulk request, a new audience or while suppressed', async () => {
  const scenario = await withUser();
  const definition = { trait: 'plan', equals: 'pro' };
  for (const userId of ['u2', 'u3', 'u4']) await scenario.user(userId, { email: `${userId}@x.org` });
  await scenario.user('u4', { traits: { plan: 'pro' } });
  await suppressed(scenario, [of('u3', 'login')]);
  await scenario.later(HOUR);
  const audience = await createAudience(
    { db: scenario.server.db, listRuleNeeds },
    {
      projectId: scenario.projectId,
      name: 'Pros',
      definition,
    },
  );
  await scenario.rule({ name: 'Joined', when: { audience: audience.id, move: 'joined' }, steps });
  await scenario.later(HOUR);
  await scenario.user('u1', { traits: { plan: 'pro' } });
  await scenario.post('users/bulk', { users: [{ external_user_id: 'u2', traits: { plan: 'pro' } }] });
  await scenario.user('u3', { traits: { plan: 'pro' } });
  await scenario.later(DAY);
  expect((await scenario.emails()).map(({ to }) => to)).toEqual(['u1']);
  const why = await Promise.all(['u1', 'u2', 'u3', 'u4'].map((userId) => scenario.why(userId, 'Joined')));
  expect(why).toEqual([
    { fired: 1, claimed: 1 },
    { bulk_request: 1 },
    { suppressed: 1 },
    { definition_change: 1 },
  ]);
});

test('reminds of dates from a bulk request only if the reminder is still to come', async () => {
  const scenario = await withUser();
  const when = { relative_to: { trait: 'renewalDate' }, before: '7d' };
  await scenario.rule({ name: 'Renewal', when, steps });
  const inDays = (days: number): Record<string, unknown> => ({
    renewalDate: new Date(scenario.now() + days * DAY).toISOString(),
  });
  await scenario.post('users/bulk', {
    users: [
      { external_user_id: 'u1', traits: inDays(3) },
      { external_user_id: 'u2', email: 'b@x.org', traits: inDays(10) },
    ],
  });
  await scenario.later(DAY);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.why('u1', 'Renewal')).toEqual({ bulk_request: 1 });
  await scenario.later(4 * DAY);
  expect((await scenario.emails()).map(({ to }) => to)).toEqual(['u2']);
  await scenario.user('u1', { traits: inDays(5) });
  await scenario.later(DAY);
  expect((await scenario.emails()).map(({ to }) => to)).toEqual(['u2', 'u1']);
});

test('starts nothing for a user who enters an audience while it is being built, and logs it', async () => {
  const scenario = await withUser();
  await scenario.later(HOUR);
  const { projectId } = scenario;
  const definition = { trait: 'plan', equals: 'pro' };
  const audience = await createAudience(
    { db: scenario.server.db, listRuleNeeds },
    { projectId, name: 'Pros', definition },
  );
  await scenario.rule({ name: 'Joined', when: { audience: audience.id, move: 'joined' }, steps });
  const [key] = (await listBuilding(scenario.server.db, 1_000)).filter((key) => key.projectId === projectId);
  if (!key) throw new Error('nothing is being made');
  expect(await scenario.engine.processor.build(key)).toBe('went on');
  await scenario.user('u1', { traits: { plan: 'pro' } });
  await scenario.engine.processor.batch('live', [projectId]);
  await scenario.later(DAY);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.why('u1', 'Joined')).toEqual({ definition_change: 1 });
});

test('drafts nothing for the history of 10,000 imported users, and then only what a live event of each fires', async () => {
  const scenario = await newScenario(stage);
  // No email is sent here, because the test is about which users get drafts and not about speed.
  await scenario.set({ autopilot: 'draft' });
  const people = Array.from({ length: 10_000 }, (_, i) => `p${i}`);
  const chunks = <T>(items: T[]): T[][] =>
    Array.from({ length: Math.ceil(items.length / 1_000) }, (_, i) =>
      items.slice(i * 1_000, (i + 1) * 1_000),
    );
  const users = people.map((id) => ({ external_user_id: id, email: `${id}@x.org` }));
  for (const chunk of chunks(users)) await scenario.post('users/bulk', { users: chunk });
  const history = (id: string, i: number): EventSent[] => [
    of(id, 'user_signed_up'),
    i % 2 === 0
      ? of(id, 'trial_started', { trialDays: 14 })
      : of(id, 'usage_threshold_reached', { usagePercent: 85, meter: 'seats' }),
  ];
  for (const chunk of chunks(people.flatMap(history)))
    await scenario.post('events/bulk', { events: chunk, suppressTriggers: true });
  await scenario.later(HOUR);
  const counts = async (table: string): Promise<number> =>
    (
      await scenario.server.db.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM beckon.${table} WHERE project_id = $1`,
        [scenario.projectId],
      )
    )[0]?.n ?? 0;
  expect([await counts('person'), await counts('event')]).toEqual([10_000, 20_000]);
  expect([await counts('draft'), await counts('run'), await counts('rule_timer')]).toEqual([0, 0, 0]);
  const live = (id: string, i: number): EventSent => {
    const events = [
      of(id, 'user_signed_up'),
      of(id, 'usage_threshold_reached', { usagePercent: 90, meter: 'seats' }),
      of(id, 'trial_expiring', { trialDays: 3 }),
      of(id, 'login'),
    ];
    return events[Math.floor(i / 2) % 4] ?? of(id, 'login');
  };
  for (const chunk of chunks(people.map(live))) await scenario.post('events/batch', { events: chunk });
  await scenario.later(30 * DAY);
  const fired = await scenario.server.db.query(
    `SELECT r.name, count(*)::int AS people, count(DISTINCT d.external_user_id)::int AS told
     FROM beckon.draft d JOIN beckon.rule r ON r.project_id = d.project_id AND r.id = d.rule_id
     WHERE d.project_id = $1 GROUP BY r.name ORDER BY r.name`,
    [scenario.projectId],
  );
  expect(fired).toEqual([
    { name: 'plan_limit_upsell', people: 2_500, told: 2_500 },
    { name: 'trial_expiring', people: 2_500, told: 2_500 },
  ]);
  const wrong = await scenario.server.db.query(
    `SELECT d.external_user_id FROM beckon.draft d JOIN beckon.rule r ON r.project_id = d.project_id AND r.id = d.rule_id
     WHERE d.project_id = $1 AND (substr(d.external_user_id, 2)::int / 2) % 4
       <> CASE r.name WHEN 'plan_limit_upsell' THEN 1 ELSE 2 END`,
    [scenario.projectId],
  );
  expect(wrong).toEqual([]);
}, 120_000);
