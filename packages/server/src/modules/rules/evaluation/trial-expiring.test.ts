import { expect, test, vi } from 'vitest';
import { HOUR } from '../../../../testkit/drafts.ts';
import { DAY, newStory, openStage, type Story } from '../../../../testkit/story.ts';
import { forgetHistory } from '../../operations/retention/forget-history.ts';

const stage = await openStage();
const RULE = 'trial_expiring';
const MINUTE = HOUR / 60;

async function withUser(): Promise<Story> {
  const story = await newStory(stage);
  await story.user('u1', { email: 'a@x.org' });
  return story;
}

const ago = (story: Story, ms: number): { occurred_at: string } => ({
  occurred_at: new Date(story.now() - ms).toISOString(),
});
const moments = async (story: Story): Promise<number[]> => (await story.emails()).map(({ at }) => at);

test('sends one email for a 14-day trial, two hours after its reminder fires on day 11, without a long process timer', async () => {
  const story = await withUser();
  const timerSpies = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'setInterval')];
  const at = story.now();
  await story.event('u1', 'trial_started', { trialDays: 14, plan: 'pro' });
  await story.later(11 * DAY - 1);
  expect(await story.drafts()).toEqual([]);
  expect(await story.why('u1', RULE)).toEqual({ starts_later: 1 });
  await story.later(1);
  expect(await story.drafts()).toMatchObject([
    {
      rule: RULE,
      state: 'scheduled',
      createdAt: at + 11 * DAY,
      deadlineAt: at + 11 * DAY + 2 * HOUR,
      expiresAt: at + 14 * DAY,
      endsAt: at + 14 * DAY,
    },
  ]);
  await story.later(2 * HOUR);
  const [email] = await story.emails();
  expect(email).toMatchObject({ rule: RULE, to: 'u1', at: at + 11 * DAY + 2 * HOUR });
  expect(email?.body).toContain('Your 14-day trial of Acme ends on');
  await story.later(30 * DAY);
  expect(await story.emails()).toHaveLength(1);
  expect(await story.why('u1', RULE)).toEqual({ starts_later: 1, fired: 1, claimed: 1 });
  const delays = timerSpies.flatMap((spy) => spy.mock.calls.map(([, ms]) => Number(ms ?? 0)));
  expect(Math.max(0, ...delays)).toBeLessThanOrEqual(5 * MINUTE);
  vi.restoreAllMocks();
});

test('sends one email per trial, whether its end is reported, computed or both', async () => {
  const story = await withUser();
  await story.event('u1', 'trial_started', { trialDays: 14 });
  await story.later(10 * DAY);
  await story.event('u1', 'trial_expiring', { trialDays: 4 });
  await story.later(2 * HOUR);
  expect(await story.emails()).toHaveLength(1);
  await story.later(30 * DAY);
  expect(await story.emails()).toHaveLength(1);
  expect(await story.why('u1', RULE)).toEqual({ starts_later: 1, fired: 1, claimed: 1, already_entered: 1 });
});

test('starts nothing on trial_expiring after the computed reminder', async () => {
  const story = await withUser();
  await story.event('u1', 'trial_started', { trialDays: 14 });
  await story.later(12 * DAY);
  await story.event('u1', 'trial_expiring', { trialDays: 2 });
  await story.later(10 * DAY);
  expect(await story.emails()).toHaveLength(1);
  expect(await story.why('u1', RULE)).toMatchObject({ fired: 1, already_entered: 1 });
});

test('does not read daysLeft', async () => {
  const story = await withUser();
  await story.event('u1', 'trial_expiring', { daysLeft: 3 });
  await story.event('u1', 'trial_started', { daysLeft: 14 });
  await story.later(14 * DAY);
  expect(await story.emails()).toEqual([]);
  expect(await story.why('u1', RULE)).toEqual({ filter: 2 });
});

test('replaces a trial by a newer one: ends its run, cancels its draft and uses the new end', async () => {
  const story = await withUser();
  await story.event('u1', 'trial_started', { trialDays: 14 });
  await story.later(11 * DAY + HOUR);
  expect(await story.drafts()).toMatchObject([{ state: 'scheduled' }]);
  const renewed = story.now();
  await story.event('u1', 'trial_started', { trialDays: 7 });
  await story.later(MINUTE);
  expect(await story.drafts()).toMatchObject([{ state: 'canceled', reason: 'replaced' }]);
  await story.later(10 * DAY);
  expect(await moments(story)).toEqual([renewed + 4 * DAY + 2 * HOUR]);
  expect((await story.runs('u1', RULE)).map((run) => run.end_reason)).toEqual(['replaced', 'done']);
});

test('sends one email, for the newer trial, if it starts before the old reminder', async () => {
  const story = await withUser();
  await story.event('u1', 'trial_started', { trialDays: 14 });
  await story.later(DAY);
  const renewed = story.now();
  await story.event('u1', 'trial_started', { trialDays: 14 });
  await story.later(30 * DAY);
  expect(await moments(story)).toEqual([renewed + 11 * DAY + 2 * HOUR]);
});

test.each(['subscription_started', 'subscription_canceled'])(
  '%s ends the trial: no email is sent, whether a draft waits or not',
  async (name) => {
    const story = await withUser();
    await story.user('u2', { email: 'b@x.org' });
    for (const userId of ['u1', 'u2']) await story.event(userId, 'trial_started', { trialDays: 14 });
    await story.later(5 * DAY);
    await story.event('u1', name);
    await story.later(6 * DAY + HOUR);
    await story.event('u2', name);
    await story.later(10 * DAY);
    expect(await story.emails()).toEqual([]);
    expect(await story.why('u1', RULE)).toEqual({ starts_later: 1, superseded: 1 });
    expect(await story.drafts('u2')).toMatchObject([{ state: 'canceled', reason: 'exit_event' }]);
    expect(await story.runs('u2', RULE)).toMatchObject([{ state: 'ended', end_reason: 'exit_event' }]);
  },
);

test('cancels approved and edited drafts when a subscription starts', async () => {
  const story = await withUser();
  await story.user('u2', { email: 'b@x.org' });
  for (const userId of ['u1', 'u2']) await story.event(userId, 'trial_expiring', { trialDays: 3 });
  await story.later(MINUTE);
  const content = { subject: 'Yours', preheader: '', body: 'Written by hand.', format: 'markdown' as const };
  await story.act('u1', { kind: 'approve' });
  await story.act('u2', { kind: 'edit', content });
  for (const userId of ['u1', 'u2']) await story.event(userId, 'subscription_started');
  await story.later(DAY);
  expect(await story.emails()).toEqual([]);
  expect((await story.drafts()).map(({ state }) => state)).toEqual(['canceled', 'canceled']);
});

test('fires at once for a trial with less than three days left', async () => {
  const story = await withUser();
  await story.user('u2', { email: 'b@x.org' });
  const at = story.now();
  await story.event('u1', 'trial_started', { trialDays: 2 });
  await story.event('u2', 'trial_started', { trialDays: 3.5 }, ago(story, 20 * HOUR));
  await story.later(3 * HOUR);
  expect(await moments(story)).toEqual([at + 2 * HOUR, at + 2 * HOUR]);
  expect((await story.drafts('u1'))[0]?.endsAt).toBe(at + 2 * DAY);
  expect((await story.drafts('u2'))[0]?.endsAt).toBe(at + 3.5 * DAY - 20 * HOUR);
});

test('never sends after the end of the trial, neither at once nor after quiet hours', async () => {
  const story = await withUser();
  for (const userId of ['u2', 'u3']) await story.user(userId, { email: `${userId}@x.org` });
  await story.event('u1', 'trial_started', { trialDays: 0.5 }, ago(story, 13 * HOUR));
  const at = story.now();
  // Ends at 17:00. The email is sent 15 minutes before that, even though its own deadline is later.
  await story.event('u2', 'trial_started', { trialDays: 1 / 24 });
  await story.until('20:30');
  // Ends at 22:30, in quiet hours that last until 08:00.
  await story.event('u3', 'trial_started', { trialDays: 2 / 24 });
  await story.later(DAY);
  expect(await story.why('u1', RULE)).toEqual({ date_passed: 1 });
  expect(await story.emails()).toMatchObject([{ to: 'u2', at: at + 45 * MINUTE }]);
  expect(await story.drafts('u3')).toMatchObject([{ state: 'canceled', reason: 'expired' }]);
  expect(await story.why('u3', RULE)).toEqual({ fired: 1, quiet_hours: 1, expired: 1 });
});

test('sets no timer for a late trial_started that is older than a subscription', async () => {
  const story = await withUser();
  await story.event('u1', 'subscription_started');
  await story.event('u1', 'trial_started', { trialDays: 14 }, ago(story, DAY));
  await story.later(20 * DAY);
  expect(await story.why('u1', RULE)).toEqual({ superseded: 1 });
  expect(await story.emails()).toEqual([]);
});

test('starts the run at its own time for a trial that arrives late and ends in the future', async () => {
  const story = await withUser();
  const at = story.now();
  await story.event('u1', 'trial_started', { trialDays: 14 }, ago(story, 4 * DAY));
  await story.later(20 * DAY);
  expect(await moments(story)).toEqual([at + 7 * DAY + 2 * HOUR]);
});

test('sets no timer for a trial imported under suppression, but fires on a live trial_expiring with trialDays', async () => {
  const story = await withUser();
  await story.user('u2', { email: 'b@x.org' });
  const imported = ['u1', 'u2'].map((external_user_id) => ({
    external_user_id,
    name: 'trial_started',
    properties: { trialDays: 14 },
  }));
  await story.post('events/batch', { events: imported, suppressTriggers: true });
  await story.later(DAY);
  for (const userId of ['u1', 'u2']) await story.event(userId, 'login');
  await story.later(9 * DAY);
  const at = story.now();
  await story.event('u1', 'trial_expiring', { trialDays: 4 });
  await story.later(30 * DAY);
  expect(await story.emails()).toMatchObject([{ rule: RULE, to: 'u1', at: at + 2 * HOUR }]);
  expect(await story.why('u1', RULE)).toEqual({ suppressed: 1, fired: 1, claimed: 1 });
  expect(await story.why('u2', RULE)).toEqual({ suppressed: 1 });
});

test('does not fire for a trial that was running when triggers were suppressed, not even after the lift', async () => {
  const story = await withUser();
  await story.event('u1', 'trial_started', { trialDays: 14 });
  await story.later(DAY);
  await story.post('events/batch', {
    events: [{ external_user_id: 'u1', name: 'login' }],
    suppressTriggers: true,
  });
  await story.later(DAY);
  await story.event('u1', 'login');
  await story.later(30 * DAY);
  expect(await story.emails()).toEqual([]);
  expect(await story.why('u1', RULE)).toEqual({ starts_later: 1, suppressed: 1 });
});

test('fires on trial_expiring without a known trial, once in 30 days', async () => {
  const story = await withUser();
  const expiring = async (afterwards: number): Promise<void> => {
    await story.event('u1', 'trial_expiring', { trialDays: 3 });
    await story.later(afterwards);
  };
  await expiring(10 * DAY);
  await expiring(20 * DAY - 1);
  await expiring(1);
  expect(await story.why('u1', RULE)).toMatchObject({ fired: 1, in_cooldown: 2 });
  await expiring(DAY);
  expect(await story.emails()).toHaveLength(2);
  expect((await story.runs('u1', RULE)).map(({ key }) => key)).toEqual(['none', 'none']);
});

test('keeps the event of a trial until its reminder is due, however short the retention of events', async () => {
  const story = await withUser();
  await story.set({ keep_events: '31d' });
  await story.user('u2', { email: 'b@x.org' });
  const at = story.now();
  for (const userId of ['u1', 'u2']) await story.event(userId, 'trial_started', { trialDays: 60 });
  await story.event('u1', 'login');
  await story.later(5 * DAY);
  await story.event('u2', 'subscription_started');
  const forget = async (): Promise<string[]> => {
    const { db } = story.server;
    await forgetHistory(db, story.projectId, () => true);
    const rows = await db.query<{ name: string }>(
      `SELECT external_user_id || ' ' || name AS name FROM beckon.event
       WHERE project_id = $1 AND name NOT LIKE 'email.%' ORDER BY 1`,
      [story.projectId],
    );
    return rows.map(({ name }) => name);
  };
  await story.later(40 * DAY);
  expect(await forget()).toEqual(['u1 trial_started', 'u2 subscription_started', 'u2 trial_started']);
  await story.later(13 * DAY);
  expect(await moments(story)).toEqual([at + 57 * DAY + 2 * HOUR]);
  expect(await story.why('u2', RULE)).toEqual({ starts_later: 1, superseded: 1 });
  expect(await forget()).toEqual([]);
});
