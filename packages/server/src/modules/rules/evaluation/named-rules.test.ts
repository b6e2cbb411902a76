import { expect, test } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';

const stage = await openStage();

/** Emails sent at the same moment have no order. */
const emailsOf = async (scenario: Scenario): Promise<string[]> =>
  (await scenario.emails()).map(({ rule, to }) => `${rule} to ${to}`).toSorted();

test('welcome: sends one email two hours after sign-up, with the name known then', async () => {
  const scenario = await newScenario(stage);
  await scenario.user('u1', { email: 'Ada@Example.org', traits: { name: 'Ada' } });
  await scenario.event('u1', 'user_signed_up', { plan: 'free_trial' });
  const at = scenario.now();
  await scenario.later(2 * HOUR - 1);
  expect(await scenario.emails()).toEqual([]);
  await scenario.later(1);
  const [email] = await scenario.emails();
  expect(email).toMatchObject({ rule: 'welcome', to: 'u1', address: 'ada@example.org', at: at + 2 * HOUR });
  expect(email?.body).toContain('Hi Ada,');
  expect(email?.body).toContain('on the free trial plan');
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(DAY);
  expect(await emailsOf(scenario)).toEqual(['welcome to u1']);
  expect(await scenario.why('u1', 'welcome')).toEqual({ fired: 1, claimed: 1, already_entered: 1 });
});

test('welcome: refreshes an untouched draft until it is sent', async () => {
  const scenario = await newScenario(stage);
  await scenario.user('u1', { email: 'a@x.org' });
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(HOUR);
  expect((await scenario.drafts())[0]?.content.body).toContain('Hi there,');
  await scenario.user('u1', { traits: { name: 'Grace' } });
  await scenario.later(HOUR);
  expect((await scenario.emails())[0]?.body).toContain('Hi Grace,');
});

test('welcome: does not fire for a sign-up that is reported too late', async () => {
  const scenario = await newScenario(stage);
  await scenario.user('u1', { email: 'a@x.org' });
  const occurred_at = new Date(scenario.now() - 25 * HOUR).toISOString();
  await scenario.event('u1', 'user_signed_up', {}, { occurred_at });
  await scenario.later(DAY);
  expect(await scenario.why('u1', 'welcome')).toEqual({ too_old: 1 });
  // Two of the three days that this rule waits are left.
  expect(await scenario.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1 });
});

test('onboarding_stall: fires exactly three days after sign-up, and its email is sent two hours later', async () => {
  const scenario = await newScenario(stage);
  await scenario.user('u1', { email: 'a@x.org' });
  await scenario.event('u1', 'user_signed_up');
  const at = scenario.now();
  await scenario.later(3 * DAY - 1);
  expect((await scenario.drafts()).map(({ rule }) => rule)).toEqual(['welcome']);
  expect(await scenario.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1 });
  await scenario.later(1);
  const [, draft] = await scenario.drafts();
  expect(draft).toMatchObject({
    rule: 'onboarding_stall',
    state: 'scheduled',
    createdAt: at + 3 * DAY,
    deadlineAt: at + 3 * DAY + 2 * HOUR,
    expiresAt: at + 10 * DAY + 2 * HOUR,
  });
  await scenario.later(2 * HOUR);
  expect((await scenario.emails())[1]).toMatchObject({
    rule: 'onboarding_stall',
    at: at + 3 * DAY + 2 * HOUR,
  });
  await scenario.later(30 * DAY);
  expect(await emailsOf(scenario)).toEqual(['onboarding_stall to u1', 'welcome to u1']);
  expect(await scenario.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1, fired: 1, claimed: 1 });
});

test.each(['onboarding_completed', 'feature_used'])(
  'onboarding_stall: does not fire if %s arrives before three days are over',
  async (name) => {
    const scenario = await newScenario(stage);
    await scenario.user('u1', { email: 'a@x.org' });
    await scenario.event('u1', 'user_signed_up');
    await scenario.later(3 * DAY - 1);
    await scenario.event('u1', name);
    await scenario.later(DAY);
    expect(await scenario.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1, not_absent: 1 });
    expect(await emailsOf(scenario)).toEqual(['welcome to u1']);
  },
);

test('onboarding_stall: ignores progress before sign-up, and counts imported progress', async () => {
  const scenario = await newScenario(stage);
  const long = new Date(scenario.now() - DAY).toISOString();
  for (const userId of ['u1', 'u2']) await scenario.user(userId, { email: `${userId}@x.org` });
  await scenario.event('u1', 'feature_used', {}, { occurred_at: long });
  await scenario.event('u1', 'user_signed_up');
  await scenario.event('u2', 'user_signed_up');
  await scenario.later(HOUR);
  const imported = {
    external_user_id: 'u2',
    name: 'feature_used',
    occurred_at: new Date(scenario.now()).toISOString(),
  };
  await scenario.post('events/bulk', { events: [imported] });
  await scenario.later(4 * DAY);
  expect(await emailsOf(scenario)).toEqual(['onboarding_stall to u1', 'welcome to u1', 'welcome to u2']);
  expect(await scenario.why('u2', 'onboarding_stall')).toEqual({ starts_later: 1, not_absent: 1 });
});

test('onboarding_stall: cancels the draft when the user makes progress', async () => {
  const scenario = await newScenario(stage);
  await scenario.user('u1', { email: 'a@x.org' });
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(3 * DAY + HOUR);
  await scenario.event('u1', 'feature_used');
  await scenario.later(DAY);
  expect((await scenario.drafts())[1]).toMatchObject({ state: 'canceled', reason: 'exit_event' });
  expect(await scenario.runs('u1', 'onboarding_stall')).toEqual([
    { key: '', state: 'ended', end_reason: 'exit_event' },
  ]);
  expect(await emailsOf(scenario)).toEqual(['welcome to u1']);
});

test('plan_limit_upsell: sends one email at 80 percent, one on first reaching 100, and then none for 30 days', async () => {
  const scenario = await newScenario(stage);
  const usage = async (usagePercent: number, afterwards: number): Promise<void> => {
    await scenario.event('u1', 'usage_threshold_reached', { usagePercent, meter: 'seats', limit: 10 });
    await scenario.later(afterwards);
  };
  await scenario.user('u1', { email: 'a@x.org', traits: { plan: 'team' } });
  await usage(79, DAY);
  await usage(80, 2 * HOUR);
  const [first] = await scenario.emails();
  expect(first?.subject).toBe('You have used 80% of your seats');
  expect(first?.body).toContain('the 10 seats that come with your team plan');
  await usage(85, DAY);
  await usage(100, DAY);
  expect((await scenario.emails()).map(({ subject }) => subject)).toEqual([
    'You have used 80% of your seats',
    'You have used 100% of your seats',
  ]);
  await usage(100, DAY);
  await usage(82, DAY);
  expect(await scenario.emails()).toHaveLength(2);
  expect(await scenario.why('u1', 'plan_limit_upsell')).toEqual({
    filter: 1,
    fired: 2,
    claimed: 2,
    in_cooldown: 3,
  });
  // One millisecond before 30 days have passed since the second entry.
  await scenario.later(30 * DAY - 3 * DAY - 1);
  await usage(90, 1);
  expect((await scenario.why('u1', 'plan_limit_upsell'))['in_cooldown']).toBe(4);
  await usage(90, DAY);
  expect(await scenario.emails()).toHaveLength(3);
});

test('plan_limit_upsell: sends an email per meter, and treats a missing meter as one', async () => {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off' });
  await scenario.user('u1', { email: 'a@x.org' });
  for (const meter of ['seats', 'storage', undefined, 'seats', 'storage', undefined]) {
    await scenario.event('u1', 'usage_threshold_reached', { usagePercent: 90, ...(meter && { meter }) });
    await scenario.later(HOUR / 2);
  }
  await scenario.later(2 * HOUR);
  expect((await scenario.emails()).map(({ subject }) => subject)).toEqual([
    'You have used 90% of your seats',
    'You have used 90% of your storage',
    'You have used 90% of your plan',
  ]);
  expect(await scenario.why('u1', 'plan_limit_upsell')).toEqual({ fired: 3, in_cooldown: 3, claimed: 3 });
});

test('plan_limit_upsell: makes two entries when both thresholds arrive within one batch', async () => {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off' });
  await scenario.user('u1', { email: 'a@x.org' });
  const event = (usagePercent: number): object => ({
    external_user_id: 'u1',
    name: 'usage_threshold_reached',
    properties: { usagePercent, meter: 'seats' },
  });
  await scenario.post('events/batch', { events: [event(80), event(90), event(101), event(85)] });
  await scenario.later(2 * HOUR);
  expect((await scenario.emails()).map(({ subject }) => subject).toSorted()).toEqual([
    'You have used 101% of your seats',
    'You have used 80% of your seats',
  ]);
  expect(await scenario.why('u1', 'plan_limit_upsell')).toEqual({ fired: 2, in_cooldown: 2, claimed: 2 });
});
