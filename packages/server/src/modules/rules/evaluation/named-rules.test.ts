import { expect, test } from 'vitest';
import { HOUR } from '../../../../testkit/drafts.ts';
import { DAY, newStory, openStage, type Story } from '../../../../testkit/story.ts';

const stage = await openStage();

/** Emails sent at the same moment have no order. */
const emailsOf = async (story: Story): Promise<string[]> =>
  (await story.emails()).map(({ rule, to }) => `${rule} to ${to}`).toSorted();

test('welcome: sends one email two hours after sign-up, with the name known then', async () => {
  const story = await newStory(stage);
  await story.user('u1', { email: 'Ada@Example.org', traits: { name: 'Ada' } });
  await story.event('u1', 'user_signed_up', { plan: 'free_trial' });
  const at = story.now();
  await story.later(2 * HOUR - 1);
  expect(await story.emails()).toEqual([]);
  await story.later(1);
  const [email] = await story.emails();
  expect(email).toMatchObject({ rule: 'welcome', to: 'u1', address: 'ada@example.org', at: at + 2 * HOUR });
  expect(email?.body).toContain('Hi Ada,');
  expect(email?.body).toContain('on the free trial plan');
  await story.event('u1', 'user_signed_up');
  await story.later(DAY);
  expect(await emailsOf(story)).toEqual(['welcome to u1']);
  expect(await story.why('u1', 'welcome')).toEqual({ fired: 1, claimed: 1, already_entered: 1 });
});

test('welcome: refreshes an untouched draft until it is sent', async () => {
  const story = await newStory(stage);
  await story.user('u1', { email: 'a@x.org' });
  await story.event('u1', 'user_signed_up');
  await story.later(HOUR);
  expect((await story.drafts())[0]?.content.body).toContain('Hi there,');
  await story.user('u1', { traits: { name: 'Grace' } });
  await story.later(HOUR);
  expect((await story.emails())[0]?.body).toContain('Hi Grace,');
});

test('welcome: does not fire for a sign-up that is reported too late', async () => {
  const story = await newStory(stage);
  await story.user('u1', { email: 'a@x.org' });
  const occurred_at = new Date(story.now() - 25 * HOUR).toISOString();
  await story.event('u1', 'user_signed_up', {}, { occurred_at });
  await story.later(DAY);
  expect(await story.why('u1', 'welcome')).toEqual({ too_old: 1 });
  // Two of the three days that this rule waits are left.
  expect(await story.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1 });
});

test('onboarding_stall: fires exactly three days after sign-up, and its email is sent two hours later', async () => {
  const story = await newStory(stage);
  await story.user('u1', { email: 'a@x.org' });
  await story.event('u1', 'user_signed_up');
  const at = story.now();
  await story.later(3 * DAY - 1);
  expect((await story.drafts()).map(({ rule }) => rule)).toEqual(['welcome']);
  expect(await story.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1 });
  await story.later(1);
  const [, draft] = await story.drafts();
  expect(draft).toMatchObject({
    rule: 'onboarding_stall',
    state: 'scheduled',
    createdAt: at + 3 * DAY,
    deadlineAt: at + 3 * DAY + 2 * HOUR,
    expiresAt: at + 10 * DAY + 2 * HOUR,
  });
  await story.later(2 * HOUR);
  expect((await story.emails())[1]).toMatchObject({ rule: 'onboarding_stall', at: at + 3 * DAY + 2 * HOUR });
  await story.later(30 * DAY);
  expect(await emailsOf(story)).toEqual(['onboarding_stall to u1', 'welcome to u1']);
  expect(await story.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1, fired: 1, claimed: 1 });
});

test.each(['onboarding_completed', 'feature_used'])(
  'onboarding_stall: does not fire if %s arrives before three days are over',
  async (name) => {
    const story = await newStory(stage);
    await story.user('u1', { email: 'a@x.org' });
    await story.event('u1', 'user_signed_up');
    await story.later(3 * DAY - 1);
    await story.event('u1', name);
    await story.later(DAY);
    expect(await story.why('u1', 'onboarding_stall')).toEqual({ starts_later: 1, not_absent: 1 });
    expect(await emailsOf(story)).toEqual(['welcome to u1']);
  },
);

test('onboarding_stall: ignores progress before sign-up, and counts imported progress', async () => {
  const story = await newStory(stage);
  const long = new Date(story.now() - DAY).toISOString();
  for (const userId of ['u1', 'u2']) await story.user(userId, { email: `${userId}@x.org` });
  await story.event('u1', 'feature_used', {}, { occurred_at: long });
  await story.event('u1', 'user_signed_up');
  await story.event('u2', 'user_signed_up');
  await story.later(HOUR);
  const imported = {
    external_user_id: 'u2',
    name: 'feature_used',
    occurred_at: new Date(story.now()).toISOString(),
  };
  await story.post('events/bulk', { events: [imported] });
  await story.later(4 * DAY);
  expect(await emailsOf(story)).toEqual(['onboarding_stall to u1', 'welcome to u1', 'welcome to u2']);
  expect(await story.why('u2', 'onboarding_stall')).toEqual({ starts_later: 1, not_absent: 1 });
});

test('onboarding_stall: cancels the draft when the user makes progress', async () => {
  const story = await newStory(stage);
  await story.user('u1', { email: 'a@x.org' });
  await story.event('u1', 'user_signed_up');
  await story.later(3 * DAY + HOUR);
  await story.event('u1', 'feature_used');
  await story.later(DAY);
  expect((await story.drafts())[1]).toMatchObject({ state: 'canceled', reason: 'exit_event' });
  expect(await story.runs('u1', 'onboarding_stall')).toEqual([
    { key: '', state: 'ended', end_reason: 'exit_event' },
  ]);
  expect(await emailsOf(story)).toEqual(['welcome to u1']);
});

test('plan_limit_upsell: sends one email at 80 percent, one on first reaching 100, and then none for 30 days', async () => {
  const story = await newStory(stage);
  const usage = async (usagePercent: number, afterwards: number): Promise<void> => {
    await story.event('u1', 'usage_threshold_reached', { usagePercent, meter: 'seats', limit: 10 });
    await story.later(afterwards);
  };
  await story.user('u1', { email: 'a@x.org', traits: { plan: 'team' } });
  await usage(79, DAY);
  await usage(80, 2 * HOUR);
  const [first] = await story.emails();
  expect(first?.subject).toBe('You have used 80% of your seats');
  expect(first?.body).toContain('the 10 seats that come with your team plan');
  await usage(85, DAY);
  await usage(100, DAY);
  expect((await story.emails()).map(({ subject }) => subject)).toEqual([
    'You have used 80% of your seats',
    'You have used 100% of your seats',
  ]);
  await usage(100, DAY);
  await usage(82, DAY);
  expect(await story.emails()).toHaveLength(2);
  expect(await story.why('u1', 'plan_limit_upsell')).toEqual({
    filter: 1,
    fired: 2,
    claimed: 2,
    in_cooldown: 3,
  });
  // One millisecond before 30 days have passed since the second entry.
  await story.later(30 * DAY - 3 * DAY - 1);
  await usage(90, 1);
  expect((await story.why('u1', 'plan_limit_upsell'))['in_cooldown']).toBe(4);
  await usage(90, DAY);
  expect(await story.emails()).toHaveLength(3);
});

test('plan_limit_upsell: sends an email per meter, and treats a missing meter as one', async () => {
  const story = await newStory(stage);
  await story.set({ frequency_cap: 'off' });
  await story.user('u1', { email: 'a@x.org' });
  for (const meter of ['seats', 'storage', undefined, 'seats', 'storage', undefined]) {
    await story.event('u1', 'usage_threshold_reached', { usagePercent: 90, ...(meter && { meter }) });
    await story.later(HOUR / 2);
  }
  await story.later(2 * HOUR);
  expect((await story.emails()).map(({ subject }) => subject)).toEqual([
    'You have used 90% of your seats',
    'You have used 90% of your storage',
    'You have used 90% of your plan',
  ]);
  expect(await story.why('u1', 'plan_limit_upsell')).toEqual({ fired: 3, in_cooldown: 3, claimed: 3 });
});

test('plan_limit_upsell: makes two entries when both thresholds arrive within one batch', async () => {
  const story = await newStory(stage);
  await story.set({ frequency_cap: 'off' });
  await story.user('u1', { email: 'a@x.org' });
  const event = (usagePercent: number): object => ({
    external_user_id: 'u1',
    name: 'usage_threshold_reached',
    properties: { usagePercent, meter: 'seats' },
  });
  await story.post('events/batch', { events: [event(80), event(90), event(101), event(85)] });
  await story.later(2 * HOUR);
  expect((await story.emails()).map(({ subject }) => subject).toSorted()).toEqual([
    'You have used 101% of your seats',
    'You have used 80% of your seats',
  ]);
  expect(await story.why('u1', 'plan_limit_upsell')).toEqual({ fired: 2, in_cooldown: 2, claimed: 2 });
});
