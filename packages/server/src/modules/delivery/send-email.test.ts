import { beforeEach, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { idMaker } from '../../platform/ids.ts';
import { setMode } from '../rules/write-rule.ts';
import { pauseProject, resumeProject } from '../administration/pause-project.ts';
import { liftSuppression, suppress } from '../outcomes/suppressions/suppress.ts';
import { disableRule, enableRule } from '../rules/switch-rule.ts';
import type { SendResult } from '../../platform/mail/send-result.ts';
import type { TransportEmail } from './transport.ts';
import { recordResults } from './record-results.ts';

// One email at a time, so that a second one is claimed and waits for the first.
const stage = await openStage({ slots: 1 });
const { engine, server } = stage;
const { db, clock } = server;
beforeEach(() => {
  engine.transport.emails.length = 0;
  engine.transport.setResult({ result: 'sent' });
});

/** Creates a draft for each of these users, due now. */
async function dueFor(...users: string[]): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ autopilot: '1h', quiet_hours: 'off', frequency_cap: 'off', throttle: 'off' });
  for (const userId of users) await scenario.user(userId, { email: `${userId}@x.org` });
  // The drafts are due, and so sent, in this order.
  for (const userId of users) {
    await scenario.event(userId, 'user_signed_up');
    await scenario.later(1_000);
  }
  await scenario.later(HOUR - 1_000 * users.length - 1);
  clock.advance(1_000 * users.length);
  return scenario;
}

const message = async ({ projectId }: Scenario, userId: string) => {
  const [row] = await db.query<{ state: string; attempts: number; epoch: number; address: string }>(
    `SELECT state, attempts, epoch, address, reason FROM beckon.email WHERE project_id = $1 AND external_user_id = $2 ORDER BY id`,
    [projectId, userId],
  );
  return row;
};

/** Keeps the first email in the transport until `release` is called. */
function holdFirst(): { held: Promise<TransportEmail>; release: (result?: SendResult) => void } {
  const begun = Promise.withResolvers<TransportEmail>();
  const reply = Promise.withResolvers<SendResult>();
  let isFirst = true;
  engine.transport.setResult((email) => {
    if (!isFirst) return Promise.resolve({ result: 'sent' });
    isFirst = false;
    begun.resolve(email);
    return reply.promise;
  });
  return { held: begun.promise, release: (result = { result: 'sent' }) => reply.resolve(result) };
}

/** Runs `act` while the first of several claimed emails is sent and the others wait for a slot. */
async function whileFirstLeaves({ projectId }: Scenario, act: () => Promise<unknown>): Promise<void> {
  const { held, release } = holdFirst();
  const sending = engine.sender.batch(projectId);
  await held;
  await act();
  release();
  await sending;
}

async function whileSending(act: (scenario: Scenario) => Promise<unknown>): Promise<Scenario> {
  const scenario = await dueFor('first', 'second');
  await whileFirstLeaves(scenario, async () => {
    expect(await message(scenario, 'second')).toMatchObject({ state: 'claimed' });
    await act(scenario);
  });
  return scenario;
}

/** Returns emails that were claimed and not submitted, which happens after a minute. */
async function afterAMinute(): Promise<void> {
  clock.advance(2 * MINUTE);
  await engine.sender.giveUp();
  await engine.settle();
}

/** Other scenarios send emails in the same database. */
const emailsOf = ({ projectId }: Scenario) =>
  engine.transport.emails.filter((email) => email.projectId === projectId);
const submittedTo = (scenario: Scenario): string[] => emailsOf(scenario).map(({ address }) => address);

test('commits an email as submitted, with its bytes, before it is handed to the transport', async () => {
  const scenario = await dueFor('ada');
  const seen: unknown[] = [];
  engine.transport.setResult(async ({ draftId }) => {
    seen.push(await message(scenario, 'ada'));
    const kept = await db.query(`SELECT 1 FROM beckon.email_mime WHERE draft_id = $1`, [draftId]);
    seen.push(kept.length);
    return { result: 'sent', reply: '250 queued as ABC', relayId: 'ABC' };
  });
  await engine.settle();
  expect(seen).toMatchObject([{ state: 'submitting', attempts: 1, epoch: 1 }, 1]);
  expect(await message(scenario, 'ada')).toMatchObject({ state: 'sent' });
  expect(await scenario.drafts()).toMatchObject([{ state: 'sent' }]);
});

test('submits no email before there is a slot to send it', async () => {
  const scenario = await dueFor('a', 'b', 'c', 'd');
  const submitted: number[] = [];
  engine.transport.setResult(async () => {
    const rows = await db.query(`SELECT 1 FROM beckon.email WHERE project_id = $1 AND state = 'submitting'`, [
      scenario.projectId,
    ]);
    submitted.push(rows.length);
    return { result: 'sent' };
  });
  await engine.settle();
  // One email is being sent, and the result of another is being recorded.
  expect(submitted).toHaveLength(4);
  expect(Math.max(...submitted)).toBeLessThanOrEqual(2);
});

test('does not send to an address that was suppressed after the claim', async () => {
  const scenario = await whileSending(({ projectId }) =>
    suppress(db, {
      projectId,
      kind: 'email',
      value: 'second@x.org',
      reason: 'manual',
      until: null,
      actor: 'ann',
    }),
  );
  await afterAMinute();
  expect(submittedTo(scenario)).toEqual(['first@x.org']);
  expect((await scenario.drafts('second'))[0]).toMatchObject({ state: 'canceled', reason: 'suppressed' });
});

test('keeps a claimed email when the project is paused, and sends it after the project is resumed', async () => {
  const scenario = await whileSending(({ projectId }) => pauseProject(db, projectId));
  await afterAMinute();
  expect(submittedTo(scenario)).toEqual(['first@x.org']);
  await resumeProject(db, { projectId: scenario.projectId, actor: 'ann', confirmed: true });
  await scenario.later(2 * HOUR);
  expect(submittedTo(scenario)).toEqual(['first@x.org', 'second@x.org']);
});

const OFF = { reference: 'welcome', actor: 'ann' };

test('does not send a claimed email whose rule loses autopilot or is turned off, even during a pause', async () => {
  const only = [{ state: 'scheduled', autopilotMs: null, deadlineAt: null }];
  const demoted = await whileSending((scenario) => scenario.set({ autopilot: 'draft' }));
  await afterAMinute();
  expect(await demoted.drafts('second')).toMatchObject(only);
  const mode = await whileSending(({ projectId }) =>
    setMode(db, { ...OFF, projectId, mode: 'draft', includeOpen: false }),
  );
  await afterAMinute();
  expect(await mode.drafts('second')).toMatchObject(only);
  const off = await whileSending(({ projectId }) => disableRule(db, { ...OFF, projectId }));
  await afterAMinute();
  expect(await off.drafts('second')).toMatchObject([{ state: 'held', reason: 'rule_off' }]);
  const paused = await whileSending(async (scenario) => {
    await scenario.set({ paused: 'true' });
    await scenario.set({ autopilot: 'draft' });
    await scenario.set({ paused: 'false' });
  });
  await afterAMinute();
  await paused.later(2 * HOUR);
  expect(await paused.drafts('second')).toMatchObject(only);
  for (const scenario of [demoted, mode, off, paused]) expect(submittedTo(scenario)).toEqual(['first@x.org']);
});

test('sends a claimed email to the new address if the address changes before it is submitted', async () => {
  const scenario = await whileSending(async (scenario) => {
    await scenario.user('second', { email: 'new@x.org' });
    await engine.processor.batch('live', [scenario.projectId]);
  });
  await engine.settle();
  expect(submittedTo(scenario)).toEqual(['first@x.org', 'new@x.org']);
});

test('refreshes a claimed email that was never submitted when its facts change', async () => {
  const scenario = await whileSending(async (scenario) => {
    await scenario.user('second', { email: 'new@x.org', traits: { name: 'Ada' } });
    await engine.processor.batch('live', [scenario.projectId]);
  });
  expect(await scenario.drafts('second')).toMatchObject([{ state: 'scheduled', reason: null }]);
  await engine.settle();
  expect(submittedTo(scenario)).toEqual(['first@x.org', 'new@x.org']);
  expect(emailsOf(scenario).at(-1)?.content.body).toContain('Ada');
});

test('does not submit an email whose claim has expired', async () => {
  const scenario = await dueFor('first', 'second');
  const { held, release } = holdFirst();
  const sending = engine.sender.batch(scenario.projectId);
  await held;
  clock.advance(2 * MINUTE);
  expect(await engine.sender.giveUp()).toBe(1);
  release();
  await sending;
  expect(submittedTo(scenario)).toEqual(['first@x.org']);
  expect(await message(scenario, 'second')).toMatchObject({ state: 'deferred', attempts: 0 });
  await engine.settle();
  expect(submittedTo(scenario)).toEqual(['first@x.org', 'second@x.org']);
  expect(await message(scenario, 'second')).toMatchObject({ state: 'sent', attempts: 1, epoch: 2 });
});

test('does not return a claimed email that was submitted since it was found to be lost', async () => {
  const scenario = await dueFor('ada');
  const { held, release } = holdFirst();
  const sending = engine.sender.batch(scenario.projectId);
  const { draftId, projectId } = await held;
  const seen = { email: { projectId, draftId, epoch: 1 }, sendResult: { result: 'returned' } } as const;
  await recordResults({ db, newId: idMaker(clock) }, [seen]);
  expect(await message(scenario, 'ada')).toMatchObject({ state: 'submitting', epoch: 1 });
  release();
  await sending;
  await scenario.later(HOUR);
  expect((await scenario.drafts())[0]).toMatchObject({ state: 'sent' });
  expect(submittedTo(scenario)).toEqual(['ada@x.org']);
});

test('ignores a failure that is reported after the claim was returned', async () => {
  const scenario = await dueFor('first', 'second');
  const { projectId } = scenario;
  await whileFirstLeaves(scenario, async () => {
    clock.advance(2 * MINUTE);
    await engine.sender.giveUp();
  });
  const [draft] = await scenario.drafts('second');
  const late = { projectId, draftId: draft?.id ?? '', epoch: 1 };
  const sendResult = { result: 'failed', reason: 'not_composed' } as const;
  await recordResults({ db, newId: idMaker(clock) }, [{ email: late, sendResult }]);
  expect(await message(scenario, 'second')).toMatchObject({ state: 'deferred', epoch: 1 });
  await engine.settle();
  expect(submittedTo(scenario)).toEqual(['first@x.org', 'second@x.org']);
});

test('marks an email as unknown if its worker stops after the submission, and never sends it again automatically', async () => {
  const scenario = await dueFor('ada');
  const { held, release } = holdFirst();
  const sending = engine.sender.batch(scenario.projectId);
  await held;
  clock.advance(16 * MINUTE);
  expect(await engine.sender.giveUp()).toBe(1);
  expect((await scenario.drafts())[0]).toMatchObject({ state: 'unknown', reason: 'lost' });
  // Even a late answer does not change the draft, because a member may have decided by then.
  release();
  await sending;
  await scenario.later(30 * HOUR);
  expect(submittedTo(scenario)).toEqual(['ada@x.org']);
  expect((await scenario.drafts())[0]).toMatchObject({ state: 'unknown' });
});

test('retries a deferred email with the same bytes and growing delays for a day', async () => {
  const scenario = await dueFor('ada');
  const at: number[] = [];
  engine.transport.setResult(async ({ projectId }) => {
    if (projectId !== scenario.projectId) return { result: 'sent' };
    at.push(clock.now());
    return { result: 'deferred', reason: 'deferred', reply: '451 4.3.0 later' };
  });
  await scenario.later(26 * HOUR);
  const minutes = at.slice(1).map((time, i) => Math.round((time - (at[i] ?? 0)) / MINUTE));
  expect(minutes.slice(0, 8)).toEqual([1, 5, 15, 30, 60, 120, 240, 240]);
  expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeLessThan(24 * HOUR);
  const bytes = new Set(emailsOf(scenario).map(({ mime }) => Buffer.from(mime).toString('latin1')));
  expect(bytes.size).toBe(1);
  expect((await scenario.drafts())[0]).toMatchObject({ state: 'failed', reason: 'deferred' });
  expect(await message(scenario, 'ada')).toMatchObject({ state: 'failed', attempts: at.length });
});

test('keeps the reason of a deferral when the next attempt is not submitted', async () => {
  const scenario = await dueFor('first', 'second');
  engine.transport.setResult({ result: 'deferred', reason: 'deferred', reply: '452 4.2.2 mailbox full' });
  await engine.sender.batch(scenario.projectId);
  clock.advance(MINUTE);
  await whileFirstLeaves(scenario, () => pauseProject(db, scenario.projectId));
  await afterAMinute();
  expect(await message(scenario, 'second')).toMatchObject({
    state: 'deferred',
    reason: 'deferred',
    attempts: 1,
    epoch: 3,
  });
});

test(
  'sends emails that have not expired after the relay was unreachable for longer than a day',
  { timeout: 90_000 },
  async () => {
    const scenario = await newScenario(stage);
    await scenario.set({ autopilot: '1h', quiet_hours: 'off' });
    await scenario.user('ada', { email: 'ada@x.org' });
    await scenario.event('ada', 'user_signed_up');
    engine.transport.setResult({ result: 'deferred', reason: 'relay_unreachable', isRelayFault: true });
    await scenario.later(27 * HOUR);
    expect((await scenario.drafts())[0]).toMatchObject({ state: 'held', reason: 'deferred' });
    engine.transport.setResult({ result: 'sent' });
    await scenario.later(6 * MINUTE);
    expect((await scenario.drafts())[0]).toMatchObject({ state: 'sent' });
  },
);

test('checks quiet hours, suppressions and the address again between two attempts', async () => {
  const scenario = await dueFor('night', 'gone', 'moved');
  engine.transport.setResult({ result: 'deferred', reason: 'deferred' });
  await engine.settle();
  engine.transport.emails.length = 0;
  engine.transport.setResult({ result: 'sent' });
  const { projectId } = scenario;
  await scenario.user('moved', { email: 'elsewhere@x.org' });
  await suppress(db, {
    projectId,
    kind: 'user',
    value: 'gone',
    reason: 'manual',
    until: null,
    actor: 'ann',
  });
  await scenario.set({ quiet_hours: '12:00-20:00' });
  await scenario.later(30 * MINUTE);
  expect(submittedTo(scenario)).toEqual([]);
  await scenario.later(9 * HOUR);
  expect(submittedTo(scenario)).toEqual(['night@x.org']);
  const states = Object.fromEntries(
    (await scenario.drafts()).map(({ userId, state, reason }) => [userId, [state, reason]]),
  );
  expect(states).toEqual({
    night: ['sent', null],
    gone: ['canceled', 'suppressed'],
    moved: ['failed', 'address_changed'],
  });
});

test('ends a deferred email with its draft, and frees its slot of the frequency cap', async () => {
  const scenario = await dueFor('ada');
  await scenario.set({ frequency_cap: '1/7d' });
  engine.transport.setResult({ result: 'deferred', reason: 'deferred' });
  await engine.settle();
  const target = { projectId: scenario.projectId, kind: 'user', value: 'ada' } as const;
  await suppress(db, { ...target, reason: 'manual', until: null, actor: 'ann' });
  expect((await scenario.drafts())[0]).toMatchObject({ state: 'canceled', reason: 'suppressed' });
  expect(await message(scenario, 'ada')).toMatchObject({ state: 'failed', reason: 'suppressed' });
  await liftSuppression(db, [target]);
  await scenario.rule({ name: 'another', when: { event: 'report_made' }, steps: [{ draft: 'welcome' }] });
  await scenario.event('ada', 'report_made');
  engine.transport.setResult({ result: 'sent' });
  await scenario.later(2 * HOUR);
  const another = (await scenario.drafts()).find(({ rule }) => rule === 'another');
  expect(another).toMatchObject({ state: 'sent' });
});

test('continues an email that was deferred while its rule was off when the rule is on again', async () => {
  const scenario = await dueFor('ada');
  const rule = {
    projectId: scenario.projectId,
    reference: (await scenario.drafts())[0]?.rule ?? '',
    actor: 'ann',
  };
  engine.transport.setResult({ result: 'deferred', reason: 'deferred', reply: '451 later' });
  await engine.sender.batch(scenario.projectId);
  await disableRule(db, rule);
  await scenario.later(HOUR);
  expect((await scenario.drafts())[0]).toMatchObject({ state: 'held', reason: 'deferred' });
  engine.transport.setResult({ result: 'sent' });
  await enableRule(db, { ...rule, confirmed: true });
  await scenario.later(2 * HOUR);
  expect((await scenario.drafts())[0]).toMatchObject({ state: 'sent' });
});

test('takes a new slot of the frequency cap when a returned email is sent', async () => {
  const scenario = await dueFor('first', 'second');
  await scenario.set({ frequency_cap: '1/24h' });
  await whileFirstLeaves(scenario, () => pauseProject(db, scenario.projectId));
  await afterAMinute();
  clock.advance(25 * HOUR);
  const resumedAt = clock.now();
  await resumeProject(db, { projectId: scenario.projectId, actor: 'ann', confirmed: true });
  await scenario.rule({ name: 'another', when: { event: 'report_made' }, steps: [{ draft: 'welcome' }] });
  await scenario.event('second', 'report_made');
  await scenario.later(3 * HOUR);
  expect(submittedTo(scenario)).toEqual(['first@x.org', 'second@x.org']);
  const [claim] = await db.query<{ claimed_at: Date }>(
    `SELECT claimed_at FROM beckon.email WHERE project_id = $1 AND external_user_id = 'second'`,
    [scenario.projectId],
  );
  expect(claim?.claimed_at.getTime()).toBeGreaterThanOrEqual(resumedAt);
  expect((await scenario.drafts('second')).at(-1)).toMatchObject({ state: 'held', reason: 'frequency_cap' });
});

test('takes no second slot of the frequency cap for a retry', async () => {
  const scenario = await dueFor('ada');
  await scenario.set({ frequency_cap: '1/24h' });
  engine.transport.setResult({ result: 'deferred', reason: 'deferred' });
  await engine.settle();
  engine.transport.setResult({ result: 'sent' });
  await scenario.later(2 * MINUTE);
  expect((await scenario.drafts())[0]).toMatchObject({ state: 'sent' });
});

test('suppresses an address after a hard bounce, unless a fifth of the last recipients got the same reply', async () => {
  const users = Array.from({ length: 12 }, (_, i) => `u${i}`);
  const scenario = await dueFor(...users);
  const refusal = (address: string): SendResult => ({
    result: 'failed',
    reason: 'bounced',
    bounce: { class: 'hard', status: '5.1.1' },
    reply: `550 5.1.1 <${address}>: user unknown`,
  });
  const suppressed = async (): Promise<unknown[]> =>
    db.query(`SELECT value, reason FROM beckon.suppression WHERE project_id = $1`, [scenario.projectId]);
  engine.transport.setResult(async ({ userId, address }) =>
    userId === 'u0' ? refusal(address) : { result: 'sent' },
  );
  await engine.settle();
  expect(await suppressed()).toEqual([{ value: 'u0@x.org', reason: 'hard_bounce' }]);
  // Three more get the same reply, so the relay is rejected and not the recipients.
  const others = ['v0', 'v1', 'v2'];
  for (const userId of others) await scenario.user(userId, { email: `${userId}@x.org` });
  engine.transport.setResult(async ({ address }) => refusal(address));
  for (const userId of others) await scenario.event(userId, 'user_signed_up');
  await scenario.later(HOUR + MINUTE);
  expect(await suppressed()).toEqual([]);
  const last = (await scenario.drafts()).filter(({ userId }) => others.includes(userId));
  expect(last.some(({ state, reason }) => state === 'held' && reason === 'deferred')).toBe(true);
});

test('sends more slowly to a mailbox provider that asks for it, and not to others', async () => {
  const users = Array.from({ length: 6 }, (_, i) => `u${i}`);
  const scenario = await dueFor(...users);
  engine.transport.setResult(async ({ userId }) =>
    userId === 'u0'
      ? { result: 'deferred', reason: 'deferred', slowDown: true, reply: '421 4.7.0 slow down' }
      : { result: 'sent' },
  );
  await engine.settle();
  await scenario.user('w0', { email: 'w0@other.example' });
  for (const userId of ['u9', 'w0']) {
    if (userId === 'u9') await scenario.user(userId, { email: 'u9@x.org' });
    await scenario.event(userId, 'user_signed_up');
  }
  await scenario.later(HOUR);
  const states = Object.fromEntries(
    (await scenario.drafts()).map(({ userId, state, reason }) => [userId, reason ?? state]),
  );
  expect(states).toMatchObject({ w0: 'sent' });
  const [pace] = await db.query<{ per_second: number }>(
    `SELECT per_second FROM beckon.send_bucket WHERE project_id = $1 AND provider = 'x.org'`,
    [scenario.projectId],
  );
  expect(pace?.per_second).toBeGreaterThan(0);
});

test('allows edits and skips of a claimed email that was never submitted, and records no bounce when it expires', async () => {
  const users = ['first', 'edited', 'skipped', 'late'];
  const scenario = await dueFor(...users);
  await whileFirstLeaves(scenario, () => pauseProject(db, scenario.projectId));
  await afterAMinute();
  const content = { subject: 'Other words', preheader: '', body: 'New text', format: 'markdown' } as const;
  await scenario.act('edited', { kind: 'edit', content });
  await scenario.act('skipped', { kind: 'skip', reason: null });
  expect(await message(scenario, 'skipped')).toMatchObject({
    state: 'failed',
    reason: 'skipped',
    attempts: 0,
  });
  await scenario.act('skipped', { kind: 'undo' });
  expect(await message(scenario, 'skipped')).toMatchObject({ state: 'deferred', reason: null, attempts: 0 });
  await scenario.act('skipped', { kind: 'skip', reason: null });
  clock.advance(100 * HOUR);
  await resumeProject(db, { projectId: scenario.projectId, actor: 'ann', confirmed: true });
  await scenario.later(2 * HOUR);
  expect((await scenario.drafts('late'))[0]).toMatchObject({ state: 'canceled', reason: 'expired' });
  expect(await message(scenario, 'late')).toMatchObject({ state: 'failed', reason: 'expired', attempts: 0 });
  const bounced = `SELECT 1 FROM beckon.outcome WHERE project_id = $1 AND type = 'email.bounced'`;
  expect(await db.query(bounced, [scenario.projectId])).toEqual([]);
});
