import { beforeEach, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { pauseProject, resumeProject } from '../administration/pause-project.ts';
import { suppress } from '../outcomes/suppressions/suppress.ts';
import { disableRule, enableRule } from '../rules/switch-rule.ts';

const stage = await openStage();
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

async function withUser(traits: Record<string, unknown> = {}): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.user('u1', { email: 'a@x.org', traits });
  return scenario;
}

const email = (subject: string): object[] => [{ draft: { subject, body: 'Hello.' } }];
const clockOf = (at: number, zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(at)
    .toZonedDateTimeISO(zone)
    .toPlainTime()
    .toString({ smallestUnit: 'minute' });

test('holds a draft without an address, and starts its deadline when the address arrives', async () => {
  const scenario = await newScenario(stage);
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(20 * HOUR);
  expect(await scenario.drafts()).toMatchObject([
    { state: 'held', reason: 'no_address', deadlineAt: null, expiresAt: null },
  ]);
  const at = scenario.now();
  await scenario.user('u1', { email: 'late@x.org', traits: { name: 'Late' } });
  await scenario.later(MINUTE);
  expect(await scenario.drafts()).toMatchObject([{ state: 'scheduled', deadlineAt: at + 2 * HOUR }]);
  await scenario.later(2 * HOUR);
  expect(await scenario.emails()).toMatchObject([{ to: 'u1', address: 'late@x.org', at: at + 2 * HOUR }]);
  expect((await scenario.emails())[0]?.body).toContain('Hi Late,');
});

test.each([
  [{}, 'UTC'],
  [{ timezone: 'Asia/Kolkata' }, 'Asia/Kolkata'],
  [{ timezone: 'Nowhere/Land', time_zone: 'America/Los_Angeles' }, 'America/Los_Angeles'],
])('quiet hours: hold an email to a user with the traits %j until 08:00 in %s', async (traits, zone) => {
  const scenario = await withUser(traits);
  const now = Temporal.Instant.fromEpochMilliseconds(scenario.now()).toZonedDateTimeISO(zone);
  const evening = now.toPlainDate().add({ days: 1 }).toZonedDateTime({ timeZone: zone, plainTime: '20:00' });
  await scenario.later(evening.epochMilliseconds - scenario.now());
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(3 * HOUR);
  expect(await scenario.drafts()).toMatchObject([
    { state: 'held', reason: 'quiet_hours', resumeState: 'scheduled' },
  ]);
  await scenario.later(DAY);
  const [sent] = await scenario.emails();
  const morning = evening.add({ hours: 12 }).epochMilliseconds;
  expect(clockOf(morning, zone)).toBe('08:00');
  expect(sent?.at).toBeGreaterThanOrEqual(morning);
  expect(sent?.at).toBeLessThan(morning + 30 * MINUTE);
});

test('quiet hours: spread emails over 30 minutes after they end', async () => {
  const scenario = await newScenario(stage);
  await scenario.until('20:00');
  const users = Array.from({ length: 40 }, (_, i) => `u${i}`);
  for (const userId of users) await scenario.user(userId, { email: `${userId}@x.org` });
  await scenario.post('events/batch', {
    events: users.map((userId) => ({ external_user_id: userId, name: 'user_signed_up' })),
  });
  await scenario.later(DAY);
  const sent = await scenario.emails();
  expect(sent).toHaveLength(40);
  const minutes = new Set(sent.map(({ at }) => clockOf(at, 'UTC')));
  expect([...minutes].every((minute) => minute >= '08:00' && minute < '08:30')).toBe(true);
  expect(minutes.size).toBeGreaterThan(10);
});

test('frequency cap: holds emails above one a day and three a week until a slot is free', async () => {
  const scenario = await withUser();
  await scenario.set({ quiet_hours: 'off' });
  for (const name of ['r1', 'r2', 'r3', 'r4', 'r5'])
    await scenario.rule({ name, when: { event: name }, expires_after: '30d', steps: email(name) });
  const at = scenario.now();
  for (const name of ['r1', 'r2', 'r3', 'r4', 'r5']) {
    await scenario.event('u1', name);
    await scenario.later(MINUTE);
  }
  await scenario.later(20 * DAY);
  const days = (await scenario.emails()).map((sent) => (sent.at - at - 2 * HOUR) / DAY);
  expect(days).toEqual([0, 1, 2, 7, 8]);
});

test('frequency cap: is shared by users with the same address, and ignores emails that do not count', async () => {
  const scenario = await withUser();
  await scenario.user('u2', { email: 'A@X.ORG' });
  await scenario.rule({ name: 'Free', when: { event: 'did' }, counts: false, steps: email('Free') });
  await scenario.rule({ name: 'One', when: { event: 'did' }, steps: email('One') });
  await scenario.post('events/batch', {
    events: ['u1', 'u2'].map((userId) => ({ external_user_id: userId, name: 'did' })),
  });
  await scenario.later(3 * HOUR);
  expect((await scenario.emails()).map(({ rule }) => rule).toSorted()).toEqual(['Free', 'Free', 'One']);
  await scenario.later(2 * DAY);
  expect(await scenario.emails()).toHaveLength(4);
});

test('frequency cap: gives the last slot to the rule with the higher priority, and records which draft took it', async () => {
  const scenario = await withUser();
  await scenario.rule({ name: 'Low', when: { event: 'low' }, priority: 10, steps: email('Low') });
  await scenario.rule({ name: 'High', when: { event: 'high' }, priority: 90, steps: email('High') });
  await scenario.event('u1', 'low');
  await scenario.later(HOUR);
  await scenario.event('u1', 'high');
  await scenario.later(HOUR);
  const [low, high] = await scenario.drafts();
  expect(low).toMatchObject({ rule: 'Low', state: 'held', reason: 'frequency_cap_yielded' });
  const [row] = await scenario.server.db.query<{ detail: object }>(
    `SELECT detail FROM beckon.decision WHERE project_id = $1 AND reason = 'frequency_cap_yielded'`,
    [scenario.projectId],
  );
  expect(row?.detail).toMatchObject({ yields_to: high?.id });
  await scenario.later(2 * DAY);
  expect((await scenario.emails()).map(({ rule }) => rule)).toEqual(['High', 'Low']);
});

test('priority: decides among drafts that quiet hours held', async () => {
  // The ids decide which of the two is released first, so several pairs are tried.
  for (let i = 0; i < 4; i += 1) {
    const scenario = await withUser();
    await scenario.rule({ name: 'Low', when: { event: 'low' }, priority: 10, steps: email('Low') });
    await scenario.rule({ name: 'High', when: { event: 'high' }, priority: 90, steps: email('High') });
    await scenario.until('20:00');
    await scenario.event('u1', 'low');
    await scenario.event('u1', 'high');
    await scenario.later(3 * DAY);
    expect((await scenario.emails()).map(({ rule }) => rule)).toEqual(['High', 'Low']);
  }
});

test('priority: decides among drafts that the frequency cap held', async () => {
  for (let i = 0; i < 4; i += 1) {
    const scenario = await withUser();
    await scenario.set({ quiet_hours: 'off' });
    for (const [name, priority] of [
      ['First', 50],
      ['Low', 10],
      ['High', 90],
    ] as const)
      await scenario.rule({ name, when: { event: name }, priority, steps: email(name) });
    await scenario.event('u1', 'First');
    await scenario.later(3 * HOUR);
    await scenario.event('u1', 'Low');
    await scenario.event('u1', 'High');
    await scenario.later(5 * DAY);
    expect((await scenario.emails()).map(({ rule }) => rule)).toEqual(['First', 'High', 'Low']);
  }
});

test('priority: decides among drafts that a snooze held', async () => {
  for (let i = 0; i < 4; i += 1) {
    const scenario = await withUser();
    await scenario.set({ quiet_hours: 'off' });
    for (const [name, priority] of [
      ['Low', 10],
      ['High', 90],
    ] as const)
      await scenario.rule({ name, when: { event: name }, priority, steps: email(name) });
    const { projectId } = scenario;
    const until = scenario.now() + 5 * HOUR;
    const snooze = { projectId, kind: 'user', value: 'u1', reason: 'snoozed', until, actor: 'u1' } as const;
    await suppress(scenario.server.db, snooze);
    await scenario.event('u1', 'Low');
    await scenario.later(MINUTE);
    await scenario.event('u1', 'High');
    await scenario.later(3 * DAY);
    expect((await scenario.emails()).map(({ rule }) => rule)).toEqual(['High', 'Low']);
  }
});

test('frequency cap: takes one slot for an email to a shared address, whichever user it is for', async () => {
  const scenario = await withUser();
  await scenario.set({ quiet_hours: 'off', frequency_cap: '2/24h' });
  await scenario.user('u2', { email: 'a@x.org' });
  await scenario.rule({ name: 'One', when: { event: 'one' }, steps: email('One') });
  await scenario.rule({ name: 'Two', when: { event: 'two' }, steps: email('Two') });
  await scenario.event('u1', 'one');
  await scenario.later(3 * HOUR);
  await scenario.post('events/batch', {
    events: ['u1', 'u2'].map((userId) => ({ external_user_id: userId, name: 'two' })),
  });
  await scenario.later(3 * HOUR);
  expect((await scenario.emails()).map(({ rule }) => rule)).toEqual(['One', 'Two']);
  await scenario.later(DAY);
  expect(await scenario.emails()).toHaveLength(3);
});

test('cancels a draft whose address arrives too late, and continues the run', async () => {
  const scenario = await newScenario(stage);
  await scenario.event('u1', 'trial_expiring', { trialDays: 2 });
  await scenario.later(3 * DAY);
  await scenario.user('u1', { email: 'late@x.org' });
  await scenario.later(MINUTE);
  expect(await scenario.drafts()).toMatchObject([{ state: 'canceled', reason: 'expired' }]);
  expect(await scenario.runs('u1', 'trial_expiring')).toMatchObject([{ state: 'ended', end_reason: 'done' }]);
});

test('sends the current facts when a held draft is approved again', async () => {
  const scenario = await withUser({ name: 'Ada' });
  const draft = { subject: 'Hello', body: 'Hello {{ user.name }}.' };
  await scenario.rule({ name: 'By hand', when: { event: 'did' }, mode: 'draft', steps: [{ draft }] });
  await scenario.until('21:30');
  await scenario.event('u1', 'did');
  await scenario.later(MINUTE);
  await scenario.act('u1', { kind: 'approve' });
  await scenario.later(MINUTE);
  expect(await scenario.drafts()).toMatchObject([{ reason: 'quiet_hours', resumeState: 'approved' }]);
  await scenario.user('u1', { traits: { name: 'Grace' } });
  await scenario.later(MINUTE);
  await scenario.act('u1', { kind: 'approve' });
  await scenario.later(DAY);
  expect((await scenario.emails()).map(({ body }) => body)).toEqual(['Hello Grace.']);
});

test('cancels an untouched draft whose condition no longer holds, and holds an edited one for review', async () => {
  const scenario = await newScenario(stage);
  await scenario.rule({
    name: 'Free only',
    when: { event: 'did' },
    only_if: { trait: 'plan', equals: 'free' },
    steps: email('Upgrade'),
  });
  for (const userId of ['u1', 'u2', 'u3']) {
    await scenario.user(userId, { email: `${userId}@x.org`, traits: { plan: 'free' } });
    await scenario.event(userId, 'did');
  }
  await scenario.later(MINUTE);
  const content = {
    subject: 'By hand',
    preheader: '',
    body: 'Written by hand.',
    format: 'markdown' as const,
  };
  await scenario.act('u2', { kind: 'edit', content });
  await scenario.act('u3', { kind: 'edit', content });
  for (const userId of ['u1', 'u2', 'u3']) await scenario.user(userId, { traits: { plan: 'pro' } });
  await scenario.later(3 * HOUR);
  expect(await scenario.drafts('u1')).toMatchObject([{ state: 'canceled', reason: 'rule_no_longer_holds' }]);
  expect(await scenario.drafts('u2')).toMatchObject([{ state: 'held', reason: 'needs_review' }]);
  await expect(scenario.act('u3', { kind: 'approve' })).rejects.toThrow();
  await scenario.act('u3', { kind: 'approve', anyway: true });
  await scenario.later(DAY);
  expect((await scenario.emails()).map(({ to, subject }) => [to, subject])).toEqual([['u3', 'By hand']]);
});

test('does not send despite a failed condition after the approval was undone or the draft edited or postponed', async () => {
  const scenario = await newScenario(stage);
  const free = { trait: 'plan', equals: 'free' };
  await scenario.rule({ name: 'Free', when: { event: 'did' }, only_if: free, steps: email('Upgrade') });
  const users = ['u1', 'u2', 'u3'];
  for (const userId of users) {
    await scenario.user(userId, { email: `${userId}@x.org`, traits: { plan: 'free' } });
    await scenario.event(userId, 'did');
  }
  await scenario.later(MINUTE);
  for (const userId of users) {
    await scenario.user(userId, { traits: { plan: 'pro' } });
    await scenario.act(userId, { kind: 'approve', anyway: true });
  }
  const content = { subject: 'By hand', preheader: '', body: 'By hand.', format: 'markdown' as const };
  await scenario.act('u1', { kind: 'undo' });
  await scenario.act('u2', { kind: 'edit', content });
  await scenario.act('u3', { kind: 'postpone', until: scenario.now() + 5 * HOUR });
  await scenario.later(8 * HOUR);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.drafts('u2')).toMatchObject([{ state: 'held', reason: 'needs_review' }]);
  for (const userId of ['u1', 'u3'])
    expect(await scenario.drafts(userId)).toMatchObject([
      { state: 'canceled', reason: 'rule_no_longer_holds' },
    ]);
});

test('ends the run before its email is sent when time alone fulfills an exit condition', async () => {
  const scenario = await newScenario(stage);
  const exits = { when: { trait: 'eventDate', more_than_ago: '1h' } };
  const steps = [...email('See you there'), { wait: '1d' }, ...email('And again')];
  await scenario.rule({ name: 'Invitation', when: { event: 'did' }, exits, steps });
  const eventDate = new Date(scenario.now() + HOUR / 2).toISOString();
  await scenario.user('u1', { email: 'u1@x.org', traits: { eventDate } });
  await scenario.event('u1', 'did');
  await scenario.later(DAY);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.drafts('u1')).toMatchObject([{ state: 'canceled', reason: 'exit_condition' }]);
  expect(await scenario.runs('u1', 'Invitation')).toMatchObject([
    { state: 'ended', end_reason: 'exit_condition' },
  ]);
  await scenario.later(3 * DAY);
  expect(await scenario.drafts('u1')).toHaveLength(1);
});

test('does not let an approval bypass quiet hours, the frequency cap or a suppression', async () => {
  const scenario = await withUser();
  await scenario.rule({ name: 'Two', when: { event: 'did' }, steps: email('Two') });
  await scenario.event('u1', 'user_signed_up');
  await scenario.until('21:30');
  await scenario.event('u1', 'did');
  await scenario.later(MINUTE);
  await scenario.act('u1', { kind: 'approve' });
  await scenario.later(HOUR);
  expect((await scenario.drafts())[1]).toMatchObject({ reason: 'quiet_hours', resumeState: 'approved' });
  await scenario.until('09:00');
  expect((await scenario.drafts())[1]).toMatchObject({ reason: 'frequency_cap', resumeState: 'approved' });
  expect(await scenario.emails()).toHaveLength(1);
  await scenario.later(2 * DAY);
  expect(await scenario.emails()).toHaveLength(2);
  await suppress(scenario.server.db, {
    projectId: scenario.projectId,
    kind: 'email',
    value: 'a@x.org',
    reason: 'unsubscribed',
    until: null,
    actor: 'ann',
  });
  await scenario.later(8 * DAY);
  await scenario.until('12:00');
  await scenario.event('u1', 'trial_expiring', { trialDays: 3 });
  await scenario.later(MINUTE);
  await scenario.act('u1', { kind: 'approve' });
  await scenario.later(3 * DAY);
  expect(await scenario.emails()).toHaveLength(2);
  expect((await scenario.drafts())[2]).toMatchObject({ state: 'canceled', reason: 'suppressed' });
});

test('cancels open drafts on a snooze, and sends later ones when the snooze is over', async () => {
  const scenario = await withUser();
  await scenario.set({ quiet_hours: 'off' });
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(HOUR);
  const until = scenario.now() + 10 * HOUR;
  const { projectId } = scenario;
  await suppress(scenario.server.db, {
    projectId,
    kind: 'user',
    value: 'u1',
    reason: 'snoozed',
    until,
    actor: 'u1',
  });
  await scenario.event('u1', 'trial_expiring', { trialDays: 3 });
  await scenario.later(DAY);
  expect(await scenario.drafts()).toMatchObject([
    { rule: 'welcome', state: 'canceled', reason: 'suppressed' },
    { rule: 'trial_expiring', state: 'sent' },
  ]);
  expect(await scenario.emails()).toMatchObject([{ rule: 'trial_expiring', at: until }]);
});

test('drafts but does not send while a project is paused, and spreads drafts at least 15 minutes after it is resumed', async () => {
  const scenario = await withUser();
  await scenario.user('u2', { email: 'b@x.org' });
  await scenario.event('u1', 'user_signed_up');
  await scenario.later(HOUR);
  await pauseProject(scenario.server.db, scenario.projectId);
  await scenario.event('u2', 'user_signed_up');
  await scenario.later(4 * HOUR);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.drafts()).toHaveLength(2);
  const at = scenario.now();
  await resumeProject(scenario.server.db, { projectId: scenario.projectId, actor: 'ann', confirmed: false });
  await scenario.later(15 * MINUTE - 1);
  expect(await scenario.emails()).toEqual([]);
  await scenario.later(30 * MINUTE + 1);
  const sent = await scenario.emails();
  expect(sent).toHaveLength(2);
  for (const row of sent) expect(row.at).toBeLessThan(at + 45 * MINUTE);
});

test('holds drafts and runs of a disabled rule, and ignores events accepted while it is disabled', async () => {
  const scenario = await withUser();
  const { projectId } = scenario;
  await scenario.user('u2', { email: 'b@x.org' });
  await scenario.rule({
    name: 'Two steps',
    when: { event: 'did' },
    steps: [...email('One'), { wait: '1h' }, ...email('Two')],
  });
  await scenario.event('u1', 'did');
  await scenario.later(HOUR);
  const rule = { projectId, reference: 'Two steps', actor: 'ann' };
  await disableRule(scenario.server.db, rule);
  await scenario.event('u2', 'did');
  await scenario.later(5 * HOUR);
  expect(await scenario.emails()).toEqual([]);
  expect(await scenario.drafts()).toMatchObject([{ state: 'held', reason: 'rule_off' }]);
  await enableRule(scenario.server.db, { ...rule, confirmed: false });
  await scenario.later(3 * DAY);
  expect((await scenario.emails()).map(({ to, subject }) => `${subject} to ${to}`)).toEqual([
    'One to u1',
    'Two to u1',
  ]);
});
