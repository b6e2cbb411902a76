import { beforeEach, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testkit/drafts.ts';
import { DAY, newStory, openStage, type Story } from '../../../testkit/story.ts';
import { pauseProject, resumeProject } from '../administration/pause-project.ts';
import { suppress } from '../outcomes/suppressions/suppress.ts';
import { disableRule, enableRule } from '../rules/switch-rule.ts';

const stage = await openStage();
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

async function withUser(traits: Record<string, unknown> = {}): Promise<Story> {
  const story = await newStory(stage);
  await story.user('u1', { email: 'a@x.org', traits });
  return story;
}

const email = (subject: string): object[] => [{ draft: { subject, body: 'Hello.' } }];
const clockOf = (at: number, zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(at)
    .toZonedDateTimeISO(zone)
    .toPlainTime()
    .toString({ smallestUnit: 'minute' });

test('holds a draft without an address, and starts its deadline when the address arrives', async () => {
  const story = await newStory(stage);
  await story.event('u1', 'user_signed_up');
  await story.later(20 * HOUR);
  expect(await story.drafts()).toMatchObject([
    { state: 'held', reason: 'no_address', deadlineAt: null, expiresAt: null },
  ]);
  const at = story.now();
  await story.user('u1', { email: 'late@x.org', traits: { name: 'Late' } });
  await story.later(MINUTE);
  expect(await story.drafts()).toMatchObject([{ state: 'scheduled', deadlineAt: at + 2 * HOUR }]);
  await story.later(2 * HOUR);
  expect(await story.emails()).toMatchObject([{ to: 'u1', address: 'late@x.org', at: at + 2 * HOUR }]);
  expect((await story.emails())[0]?.body).toContain('Hi Late,');
});

test.each([
  [{}, 'UTC'],
  [{ timezone: 'Asia/Kolkata' }, 'Asia/Kolkata'],
  [{ timezone: 'Nowhere/Land', time_zone: 'America/Los_Angeles' }, 'America/Los_Angeles'],
])('quiet hours: hold an email to a user with the traits %j until 08:00 in %s', async (traits, zone) => {
  const story = await withUser(traits);
  const now = Temporal.Instant.fromEpochMilliseconds(story.now()).toZonedDateTimeISO(zone);
  const evening = now.toPlainDate().add({ days: 1 }).toZonedDateTime({ timeZone: zone, plainTime: '20:00' });
  await story.later(evening.epochMilliseconds - story.now());
  await story.event('u1', 'user_signed_up');
  await story.later(3 * HOUR);
  expect(await story.drafts()).toMatchObject([
    { state: 'held', reason: 'quiet_hours', resumeState: 'scheduled' },
  ]);
  await story.later(DAY);
  const [sent] = await story.emails();
  const morning = evening.add({ hours: 12 }).epochMilliseconds;
  expect(clockOf(morning, zone)).toBe('08:00');
  expect(sent?.at).toBeGreaterThanOrEqual(morning);
  expect(sent?.at).toBeLessThan(morning + 30 * MINUTE);
});

test('quiet hours: spread emails over 30 minutes after they end', async () => {
  const story = await newStory(stage);
  await story.until('20:00');
  const users = Array.from({ length: 40 }, (_, i) => `u${i}`);
  for (const userId of users) await story.user(userId, { email: `${userId}@x.org` });
  await story.post('events/batch', {
    events: users.map((userId) => ({ external_user_id: userId, name: 'user_signed_up' })),
  });
  await story.later(DAY);
  const sent = await story.emails();
  expect(sent).toHaveLength(40);
  const minutes = new Set(sent.map(({ at }) => clockOf(at, 'UTC')));
  expect([...minutes].every((minute) => minute >= '08:00' && minute < '08:30')).toBe(true);
  expect(minutes.size).toBeGreaterThan(10);
});

test('frequency cap: holds emails above one a day and three a week until a slot is free', async () => {
  const story = await withUser();
  await story.set({ quiet_hours: 'off' });
  for (const name of ['r1', 'r2', 'r3', 'r4', 'r5'])
    await story.rule({ name, when: { event: name }, expires_after: '30d', steps: email(name) });
  const at = story.now();
  for (const name of ['r1', 'r2', 'r3', 'r4', 'r5']) {
    await story.event('u1', name);
    await story.later(MINUTE);
  }
  await story.later(20 * DAY);
  const days = (await story.emails()).map((sent) => (sent.at - at - 2 * HOUR) / DAY);
  expect(days).toEqual([0, 1, 2, 7, 8]);
});

test('frequency cap: is shared by users with the same address, and ignores emails that do not count', async () => {
  const story = await withUser();
  await story.user('u2', { email: 'A@X.ORG' });
  await story.rule({ name: 'Free', when: { event: 'did' }, counts: false, steps: email('Free') });
  await story.rule({ name: 'One', when: { event: 'did' }, steps: email('One') });
  await story.post('events/batch', {
    events: ['u1', 'u2'].map((userId) => ({ external_user_id: userId, name: 'did' })),
  });
  await story.later(3 * HOUR);
  expect((await story.emails()).map(({ rule }) => rule).toSorted()).toEqual(['Free', 'Free', 'One']);
  await story.later(2 * DAY);
  expect(await story.emails()).toHaveLength(4);
});

test('frequency cap: gives the last slot to the rule with the higher priority, and records which draft took it', async () => {
  const story = await withUser();
  await story.rule({ name: 'Low', when: { event: 'low' }, priority: 10, steps: email('Low') });
  await story.rule({ name: 'High', when: { event: 'high' }, priority: 90, steps: email('High') });
  await story.event('u1', 'low');
  await story.later(HOUR);
  await story.event('u1', 'high');
  await story.later(HOUR);
  const [low, high] = await story.drafts();
  expect(low).toMatchObject({ rule: 'Low', state: 'held', reason: 'frequency_cap_yielded' });
  const [row] = await story.server.db.query<{ detail: object }>(
    `SELECT detail FROM beckon.decision WHERE project_id = $1 AND reason = 'frequency_cap_yielded'`,
    [story.projectId],
  );
  expect(row?.detail).toMatchObject({ yields_to: high?.id });
  await story.later(2 * DAY);
  expect((await story.emails()).map(({ rule }) => rule)).toEqual(['High', 'Low']);
});

test('priority: decides among drafts that quiet hours held', async () => {
  // The ids decide which of the two is released first, so several pairs are tried.
  for (let i = 0; i < 4; i += 1) {
    const story = await withUser();
    await story.rule({ name: 'Low', when: { event: 'low' }, priority: 10, steps: email('Low') });
    await story.rule({ name: 'High', when: { event: 'high' }, priority: 90, steps: email('High') });
    await story.until('20:00');
    await story.event('u1', 'low');
    await story.event('u1', 'high');
    await story.later(3 * DAY);
    expect((await story.emails()).map(({ rule }) => rule)).toEqual(['High', 'Low']);
  }
});

test('priority: decides among drafts that the frequency cap held', async () => {
  for (let i = 0; i < 4; i += 1) {
    const story = await withUser();
    await story.set({ quiet_hours: 'off' });
    for (const [name, priority] of [
      ['First', 50],
      ['Low', 10],
      ['High', 90],
    ] as const)
      await story.rule({ name, when: { event: name }, priority, steps: email(name) });
    await story.event('u1', 'First');
    await story.later(3 * HOUR);
    await story.event('u1', 'Low');
    await story.event('u1', 'High');
    await story.later(5 * DAY);
    expect((await story.emails()).map(({ rule }) => rule)).toEqual(['First', 'High', 'Low']);
  }
});

test('priority: decides among drafts that a snooze held', async () => {
  for (let i = 0; i < 4; i += 1) {
    const story = await withUser();
    await story.set({ quiet_hours: 'off' });
    for (const [name, priority] of [
      ['Low', 10],
      ['High', 90],
    ] as const)
      await story.rule({ name, when: { event: name }, priority, steps: email(name) });
    const { projectId } = story;
    const until = story.now() + 5 * HOUR;
    const snooze = { projectId, kind: 'user', value: 'u1', reason: 'snoozed', until, actor: 'u1' } as const;
    await suppress(story.server.db, snooze);
    await story.event('u1', 'Low');
    await story.later(MINUTE);
    await story.event('u1', 'High');
    await story.later(3 * DAY);
    expect((await story.emails()).map(({ rule }) => rule)).toEqual(['High', 'Low']);
  }
});

test('frequency cap: takes one slot for an email to a shared address, whichever user it is for', async () => {
  const story = await withUser();
  await story.set({ quiet_hours: 'off', frequency_cap: '2/24h' });
  await story.user('u2', { email: 'a@x.org' });
  await story.rule({ name: 'One', when: { event: 'one' }, steps: email('One') });
  await story.rule({ name: 'Two', when: { event: 'two' }, steps: email('Two') });
  await story.event('u1', 'one');
  await story.later(3 * HOUR);
  await story.post('events/batch', {
    events: ['u1', 'u2'].map((userId) => ({ external_user_id: userId, name: 'two' })),
  });
  await story.later(3 * HOUR);
  expect((await story.emails()).map(({ rule }) => rule)).toEqual(['One', 'Two']);
  await story.later(DAY);
  expect(await story.emails()).toHaveLength(3);
});

test('cancels a draft whose address arrives too late, and continues the run', async () => {
  const story = await newStory(stage);
  await story.event('u1', 'trial_expiring', { trialDays: 2 });
  await story.later(3 * DAY);
  await story.user('u1', { email: 'late@x.org' });
  await story.later(MINUTE);
  expect(await story.drafts()).toMatchObject([{ state: 'canceled', reason: 'expired' }]);
  expect(await story.runs('u1', 'trial_expiring')).toMatchObject([{ state: 'ended', end_reason: 'done' }]);
});

test('sends the current facts when a held draft is approved again', async () => {
  const story = await withUser({ name: 'Ada' });
  const draft = { subject: 'Hello', body: 'Hello {{ user.name }}.' };
  await story.rule({ name: 'By hand', when: { event: 'did' }, mode: 'draft', steps: [{ draft }] });
  await story.until('21:30');
  await story.event('u1', 'did');
  await story.later(MINUTE);
  await story.act('u1', { kind: 'approve' });
  await story.later(MINUTE);
  expect(await story.drafts()).toMatchObject([{ reason: 'quiet_hours', resumeState: 'approved' }]);
  await story.user('u1', { traits: { name: 'Grace' } });
  await story.later(MINUTE);
  await story.act('u1', { kind: 'approve' });
  await story.later(DAY);
  expect((await story.emails()).map(({ body }) => body)).toEqual(['Hello Grace.']);
});

test('cancels an untouched draft whose condition no longer holds, and holds an edited one for review', async () => {
  const story = await newStory(stage);
  await story.rule({
    name: 'Free only',
    when: { event: 'did' },
    only_if: { trait: 'plan', equals: 'free' },
    steps: email('Upgrade'),
  });
  for (const userId of ['u1', 'u2', 'u3']) {
    await story.user(userId, { email: `${userId}@x.org`, traits: { plan: 'free' } });
    await story.event(userId, 'did');
  }
  await story.later(MINUTE);
  const content = {
    subject: 'By hand',
    preheader: '',
    body: 'Written by hand.',
    format: 'markdown' as const,
  };
  await story.act('u2', { kind: 'edit', content });
  await story.act('u3', { kind: 'edit', content });
  for (const userId of ['u1', 'u2', 'u3']) await story.user(userId, { traits: { plan: 'pro' } });
  await story.later(3 * HOUR);
  expect(await story.drafts('u1')).toMatchObject([{ state: 'canceled', reason: 'rule_no_longer_holds' }]);
  expect(await story.drafts('u2')).toMatchObject([{ state: 'held', reason: 'needs_review' }]);
  await expect(story.act('u3', { kind: 'approve' })).rejects.toThrow();
  await story.act('u3', { kind: 'approve', anyway: true });
  await story.later(DAY);
  expect((await story.emails()).map(({ to, subject }) => [to, subject])).toEqual([['u3', 'By hand']]);
});

test('does not send despite a failed condition after the approval was undone or the draft edited or postponed', async () => {
  const story = await newStory(stage);
  const free = { trait: 'plan', equals: 'free' };
  await story.rule({ name: 'Free', when: { event: 'did' }, only_if: free, steps: email('Upgrade') });
  const users = ['u1', 'u2', 'u3'];
  for (const userId of users) {
    await story.user(userId, { email: `${userId}@x.org`, traits: { plan: 'free' } });
    await story.event(userId, 'did');
  }
  await story.later(MINUTE);
  for (const userId of users) {
    await story.user(userId, { traits: { plan: 'pro' } });
    await story.act(userId, { kind: 'approve', anyway: true });
  }
  const content = { subject: 'By hand', preheader: '', body: 'By hand.', format: 'markdown' as const };
  await story.act('u1', { kind: 'undo' });
  await story.act('u2', { kind: 'edit', content });
  await story.act('u3', { kind: 'postpone', until: story.now() + 5 * HOUR });
  await story.later(8 * HOUR);
  expect(await story.emails()).toEqual([]);
  expect(await story.drafts('u2')).toMatchObject([{ state: 'held', reason: 'needs_review' }]);
  for (const userId of ['u1', 'u3'])
    expect(await story.drafts(userId)).toMatchObject([{ state: 'canceled', reason: 'rule_no_longer_holds' }]);
});

test('ends the run before its email is sent when time alone fulfills an exit condition', async () => {
  const story = await newStory(stage);
  const exits = { when: { trait: 'eventDate', more_than_ago: '1h' } };
  const steps = [...email('See you there'), { wait: '1d' }, ...email('And again')];
  await story.rule({ name: 'Invitation', when: { event: 'did' }, exits, steps });
  const eventDate = new Date(story.now() + HOUR / 2).toISOString();
  await story.user('u1', { email: 'u1@x.org', traits: { eventDate } });
  await story.event('u1', 'did');
  await story.later(DAY);
  expect(await story.emails()).toEqual([]);
  expect(await story.drafts('u1')).toMatchObject([{ state: 'canceled', reason: 'exit_condition' }]);
  expect(await story.runs('u1', 'Invitation')).toMatchObject([
    { state: 'ended', end_reason: 'exit_condition' },
  ]);
  await story.later(3 * DAY);
  expect(await story.drafts('u1')).toHaveLength(1);
});

test('does not let an approval bypass quiet hours, the frequency cap or a suppression', async () => {
  const story = await withUser();
  await story.rule({ name: 'Two', when: { event: 'did' }, steps: email('Two') });
  await story.event('u1', 'user_signed_up');
  await story.until('21:30');
  await story.event('u1', 'did');
  await story.later(MINUTE);
  await story.act('u1', { kind: 'approve' });
  await story.later(HOUR);
  expect((await story.drafts())[1]).toMatchObject({ reason: 'quiet_hours', resumeState: 'approved' });
  await story.until('09:00');
  expect((await story.drafts())[1]).toMatchObject({ reason: 'frequency_cap', resumeState: 'approved' });
  expect(await story.emails()).toHaveLength(1);
  await story.later(2 * DAY);
  expect(await story.emails()).toHaveLength(2);
  await suppress(story.server.db, {
    projectId: story.projectId,
    kind: 'email',
    value: 'a@x.org',
    reason: 'unsubscribed',
    until: null,
    actor: 'ann',
  });
  await story.later(8 * DAY);
  await story.until('12:00');
  await story.event('u1', 'trial_expiring', { trialDays: 3 });
  await story.later(MINUTE);
  await story.act('u1', { kind: 'approve' });
  await story.later(3 * DAY);
  expect(await story.emails()).toHaveLength(2);
  expect((await story.drafts())[2]).toMatchObject({ state: 'canceled', reason: 'suppressed' });
});

test('cancels open drafts on a snooze, and sends later ones when the snooze is over', async () => {
  const story = await withUser();
  await story.set({ quiet_hours: 'off' });
  await story.event('u1', 'user_signed_up');
  await story.later(HOUR);
  const until = story.now() + 10 * HOUR;
  const { projectId } = story;
  await suppress(story.server.db, {
    projectId,
    kind: 'user',
    value: 'u1',
    reason: 'snoozed',
    until,
    actor: 'u1',
  });
  await story.event('u1', 'trial_expiring', { trialDays: 3 });
  await story.later(DAY);
  expect(await story.drafts()).toMatchObject([
    { rule: 'welcome', state: 'canceled', reason: 'suppressed' },
    { rule: 'trial_expiring', state: 'sent' },
  ]);
  expect(await story.emails()).toMatchObject([{ rule: 'trial_expiring', at: until }]);
});

test('drafts but does not send while a project is paused, and spreads drafts at least 15 minutes after it is resumed', async () => {
  const story = await withUser();
  await story.user('u2', { email: 'b@x.org' });
  await story.event('u1', 'user_signed_up');
  await story.later(HOUR);
  await pauseProject(story.server.db, story.projectId);
  await story.event('u2', 'user_signed_up');
  await story.later(4 * HOUR);
  expect(await story.emails()).toEqual([]);
  expect(await story.drafts()).toHaveLength(2);
  const at = story.now();
  await resumeProject(story.server.db, { projectId: story.projectId, actor: 'ann', confirmed: false });
  await story.later(15 * MINUTE - 1);
  expect(await story.emails()).toEqual([]);
  await story.later(30 * MINUTE + 1);
  const sent = await story.emails();
  expect(sent).toHaveLength(2);
  for (const row of sent) expect(row.at).toBeLessThan(at + 45 * MINUTE);
});

test('holds drafts and runs of a disabled rule, and ignores events accepted while it is disabled', async () => {
  const story = await withUser();
  const { projectId } = story;
  await story.user('u2', { email: 'b@x.org' });
  await story.rule({
    name: 'Two steps',
    when: { event: 'did' },
    steps: [...email('One'), { wait: '1h' }, ...email('Two')],
  });
  await story.event('u1', 'did');
  await story.later(HOUR);
  const rule = { projectId, reference: 'Two steps', actor: 'ann' };
  await disableRule(story.server.db, rule);
  await story.event('u2', 'did');
  await story.later(5 * HOUR);
  expect(await story.emails()).toEqual([]);
  expect(await story.drafts()).toMatchObject([{ state: 'held', reason: 'rule_off' }]);
  await enableRule(story.server.db, { ...rule, confirmed: false });
  await story.later(3 * DAY);
  expect((await story.emails()).map(({ to, subject }) => `${subject} to ${to}`)).toEqual([
    'One to u1',
    'Two to u1',
  ]);
});
