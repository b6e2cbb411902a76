import { expect, test, vi } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { forgetHistory } from '../../operations/retention/forget-history.ts';

const stage = await openStage();
const RULE = 'trial_expiring';
const MINUTE = HOUR / 60;

async function withUser(): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.user('u1', { email: 'a@x.org' });
  return scenario;
}

const ago = (scenario: Scenario, ms: number): { occurred_at: string } => ({
  occurred_at: new Date(scenario.now() - ms).toISOString(),
});
const moments = async (scenario: Scenario): Promise<number[]> =>
  (await scenario.emails()).map(({ at }) => at);

test('sends one email for a 14-day trial, two hours after its reminder fires on day 11, without a long process timer', async () => {
  const scenario = await withUser();
  const timerSpies = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'setInterval')];
  const at = scenario.now();
  await scenario.event('u1', 'trial_started', { trialDays: 14, plan: 'pro' });
  await scenario.later(11 * DAY - 1);
  expect(await scenario.drafts()).toEqual([]);
  expect(await scenario.why('u1', RULE)).toEqual({ starts_later: 1 });
  await scenario.later(1);
  expect(await scenario.drafts()).toMatchObject([
    {
      rule: RULE,
      state: 'scheduled',
      createdAt: at + 11 * DAY,
      deadlineAt: at + 11 * DAY + 2 * HOUR,
      expiresAt: at + 14 * DAY,
      endsAt: at + 14 * DAY,
    },
  ]);
  await scenario.later(2 * HOUR);
  const [email] = await scenario.emails();
  expect(email).toMatchObject({ rule: RULE, to: 'u1', at: at + 11 * DAY + 2 * HOUR });
  expect(email?.body).toContain('Your 14-day trial of Acme ends on');
  await scenario.later(30 * DAY);
  expect(await scenario.emails()).toHaveLength(1);
  expect(await scenario.why('u1', RULE)).toEqual({ starts_later: 1, fired: 1, claimed: 1 });
  const delays = timerSpies.flatMap((spy) => spy.mock.calls.map(([, ms]) => Number(ms ?? 0)));
  expect(Math.max(0, ...delays)).toBeLessThanOrEqual(5 * MINUTE);
  vi.restoreAllMocks();
});

test('sends one email per trial, whether its end is reported, computed or both', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'trial_started', { trialDays: 14 });
  await scenario.later(10 * DAY);
  await scenario.event('u1', 'trial_expiring', { trialDays: 4 });
  await scenario.later(2 * HOUR);
  expect(await scenario.emails()).toHaveLength(1);
  await scenario.later(30 * DAY);
  expect(await scenario.emails()).toHaveLength(1);
  expect(await scenario.why('u1', RULE)).toEqual({
    starts_later: 1,
    fired: 1,
    claimed: 1,
    already_entered: 1,
  });
});

test('starts nothing on trial_expiring after the computed reminder', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'trial_started', { trialDays: 14 });
  await scenario.later(12 * DAY);
  await scenario.event('u1', 'trial_expiring', { trialDays: 2 });
  await scenario.later(10 * DAY);
  expect(await scenario.emails()).toHaveLength(1);
  expect(await scenario.why('u1', RULE)).toMatchObject({ fired: 1, already_entered: 1 });
});

test('does not read daysLeft', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'trial_expiring', { daysLeft: 3 });
  await scenario.event('u1', 'trial_started', { daysLeft: 14 });
  await scenario.later(14 * DAY);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.why('u1', RULE)).toEqual({ filter: 2 });
});

test('replaces a trial by a newer one: ends its run, cancels its draft and uses the new end', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'trial_started', { trialDays: 14 });
  await scenario.later(11 * DAY + HOUR);
  expect(await scenario.drafts()).toMatchObject([{ state: 'scheduled' }]);
  const renewed = scenario.now();
  await scenario.event('u1', 'trial_started', { trialDays: 7 });
  await scenario.later(MINUTE);
  expect(await scenario.drafts()).toMatchObject([{ state: 'canceled', reason: 'replaced' }]);
  await scenario.later(10 * DAY);
  expect(await moments(scenario)).toEqual([renewed + 4 * DAY + 2 * HOUR]);
  expect((await scenario.runs('u1', RULE)).map((run) => run.end_reason)).toEqual(['replaced', 'done']);
});

test('sends one email, for the newer trial, if it starts before the old reminder', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'trial_started', { trialDays: 14 });
  await scenario.later(DAY);
  const renewed = scenario.now();
  await scenario.event('u1', 'trial_started', { trialDays: 14 });
  await scenario.later(30 * DAY);
  expect(await moments(scenario)).toEqual([renewed + 11 * DAY + 2 * HOUR]);
});

test.each(['subscription_started', 'subscription_canceled'])(
  '%s ends the trial: no email is sent, whether a draft waits or not',
  async (name) => {
    const scenario = await withUser();
    await scenario.user('u2', { email: 'b@x.org' });
    for (const userId of ['u1', 'u2']) await scenario.event(userId, 'trial_started', { trialDays: 14 });
    await scenario.later(5 * DAY);
    await scenario.event('u1', name);
    await scenario.later(6 * DAY + HOUR);
    await scenario.event('u2', name);
    await scenario.later(10 * DAY);
    expect(await scenario.emails()).toEqual([]);
    expect(await scenario.why('u1', RULE)).toEqual({ starts_later: 1, superseded: 1 });
    expect(await scenario.drafts('u2')).toMatchObject([{ state: 'canceled', reason: 'exit_event' }]);
    expect(await scenario.runs('u2', RULE)).toMatchObject([{ state: 'ended', end_reason: 'exit_event' }]);
  },
);

test('cancels approved and edited drafts when a subscription starts', async () => {
  const scenario = await withUser();
  await scenario.user('u2', { email: 'b@x.org' });
  for (const userId of ['u1', 'u2']) await scenario.event(userId, 'trial_expiring', { trialDays: 3 });
  await scenario.later(MINUTE);
  const content = { subject: 'Yours', preheader: '', body: 'Written by hand.', format: 'markdown' as const };
  await scenario.act('u1', { kind: 'approve' });
  await scenario.act('u2', { kind: 'edit', content });
  for (const userId of ['u1', 'u2']) await scenario.event(userId, 'subscription_started');
  await scenario.later(DAY);
  expect(await scenario.emails()).toEqual([]);
  expect((await scenario.drafts()).map(({ state }) => state)).toEqual(['canceled', 'canceled']);
});

test('fires at once for a trial with less than three days left', async () => {
  const scenario = await withUser();
  await scenario.user('u2', { email: 'b@x.org' });
  const at = scenario.now();
  await scenario.event('u1', 'trial_started', { trialDays: 2 });
  await scenario.event('u2', 'trial_started', { trialDays: 3.5 }, ago(scenario, 20 * HOUR));
  await scenario.later(3 * HOUR);
  expect(await moments(scenario)).toEqual([at + 2 * HOUR, at + 2 * HOUR]);
  expect((await scenario.drafts('u1'))[0]?.endsAt).toBe(at + 2 * DAY);
  expect((await scenario.drafts('u2'))[0]?.endsAt).toBe(at + 3.5 * DAY - 20 * HOUR);
});

test('never sends after the end of the trial, neither at once nor after quiet hours', async () => {
  const scenario = await withUser();
  for (const userId of ['u2', 'u3']) await scenario.user(userId, { email: `${userId}@x.org` });
  await scenario.event('u1', 'trial_started', { trialDays: 0.5 }, ago(scenario, 13 * HOUR));
  const at = scenario.now();
  // Ends at 17:00. The email is sent 15 minutes before that, even though its own deadline is later.
  await scenario.event('u2', 'trial_started', { trialDays: 1 / 24 });
  await scenario.until('20:30');
  // Ends at 22:30, in quiet hours that last until 08:00.
  await scenario.event('u3', 'trial_started', { trialDays: 2 / 24 });
  await scenario.later(DAY);
  expect(await scenario.why('u1', RULE)).toEqual({ date_passed: 1 });
  expect(await scenario.emails()).toMatchObject([{ to: 'u2', at: at + 45 * MINUTE }]);
  expect(await scenario.drafts('u3')).toMatchObject([{ state: 'canceled', reason: 'expired' }]);
  expect(await scenario.why('u3', RULE)).toEqual({ fired: 1, quiet_hours: 1, expired: 1 });
});

test('sets no timer for a late trial_started that is older than a subscription', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'subscription_started');
  await scenario.event('u1', 'trial_started', { trialDays: 14 }, ago(scenario, DAY));
  await scenario.later(20 * DAY);
  expect(await scenario.why('u1', RULE)).toEqual({ superseded: 1 });
  expect(await scenario.emails()).toEqual([]);
});

test('starts the run at its own time for a trial that arrives late and ends in the future', async () => {
  const scenario = await withUser();
  const at = scenario.now();
  await scenario.event('u1', 'trial_started', { trialDays: 14 }, ago(scenario, 4 * DAY));
  await scenario.later(20 * DAY);
  expect(await moments(scenario)).toEqual([at + 7 * DAY + 2 * HOUR]);
});

test('sets no timer for a trial imported under suppression, but fires on a live trial_expiring with trialDays', async () => {
  const scenario = await withUser();
  await scenario.user('u2', { email: 'b@x.org' });
  const imported = ['u1', 'u2'].map((external_user_id) => ({
    external_user_id,
    name: 'trial_started',
    properties: { trialDays: 14 },
  }));
  await scenario.post('events/batch', { events: imported, suppressTriggers: true });
  await scenario.later(DAY);
  for (const userId of ['u1', 'u2']) await scenario.event(userId, 'login');
  await scenario.later(9 * DAY);
  const at = scenario.now();
  await scenario.event('u1', 'trial_expiring', { trialDays: 4 });
  await scenario.later(30 * DAY);
  expect(await scenario.emails()).toMatchObject([{ rule: RULE, to: 'u1', at: at + 2 * HOUR }]);
  expect(await scenario.why('u1', RULE)).toEqual({ suppressed: 1, fired: 1, claimed: 1 });
  expect(await scenario.why('u2', RULE)).toEqual({ suppressed: 1 });
});

test('does not fire for a trial that was running when triggers were suppressed, not even after the lift', async () => {
  const scenario = await withUser();
  await scenario.event('u1', 'trial_started', { trialDays: 14 });
  await scenario.later(DAY);
  await scenario.post('events/batch', {
    events: [{ external_user_id: 'u1', name: 'login' }],
    suppressTriggers: true,
  });
  await scenario.later(DAY);
  await scenario.event('u1', 'login');
  await scenario.later(30 * DAY);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.why('u1', RULE)).toEqual({ starts_later: 1, suppressed: 1 });
});

test('fires on trial_expiring without a known trial, once in 30 days', async () => {
  const scenario = await withUser();
  const expiring = async (afterwards: number): Promise<void> => {
    await scenario.event('u1', 'trial_expiring', { trialDays: 3 });
    await scenario.later(afterwards);
  };
  await expiring(10 * DAY);
  await expiring(20 * DAY - 1);
  await expiring(1);
  expect(await scenario.why('u1', RULE)).toMatchObject({ fired: 1, in_cooldown: 2 });
  await expiring(DAY);
  expect(await scenario.emails()).toHaveLength(2);
  expect((await scenario.runs('u1', RULE)).map(({ key }) => key)).toEqual(['none', 'none']);
});

test('keeps the event of a trial until its reminder is due, however short the retention of events', async () => {
  const scenario = await withUser();
  await scenario.set({ keep_events: '31d' });
  await scenario.user('u2', { email: 'b@x.org' });
  const at = scenario.now();
  for (const userId of ['u1', 'u2']) await scenario.event(userId, 'trial_started', { trialDays: 60 });
  await scenario.event('u1', 'login');
  await scenario.later(5 * DAY);
  await scenario.event('u2', 'subscription_started');
  const forget = async (): Promise<string[]> => {
    const { db } = scenario.server;
    await forgetHistory(db, scenario.projectId, () => true);
    const rows = await db.query<{ name: string }>(
      `SELECT external_user_id || ' ' || name AS name FROM beckon.event
       WHERE project_id = $1 AND name NOT LIKE 'email.%' ORDER BY 1`,
      [scenario.projectId],
    );
    return rows.map(({ name }) => name);
  };
  await scenario.later(40 * DAY);
  expect(await forget()).toEqual(['u1 trial_started', 'u2 subscription_started', 'u2 trial_started']);
  await scenario.later(13 * DAY);
  expect(await moments(scenario)).toEqual([at + 57 * DAY + 2 * HOUR]);
  expect(await scenario.why('u2', RULE)).toEqual({ starts_later: 1, superseded: 1 });
  expect(await forget()).toEqual([]);
});
