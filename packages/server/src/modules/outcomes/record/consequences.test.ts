import { beforeEach, expect, test } from 'vitest';
import {
  type OutcomeScenario,
  bounced,
  CLICKED,
  COMPLAINED,
  emailsRule,
  BOT_OPENED,
  newOutcomeScenario,
  ONE_CLICK,
  OPENED,
  REPLIED,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { testHasher } from '../../../../testing/factories/send-services.ts';
import { HOUR, MINUTE } from '../../../../testing/factories/drafts.ts';
import { DAY, openStage } from '../../../../testing/scenario.ts';
import { idMaker } from '../../../platform/ids.ts';
import type { OutcomeData } from '../outcome.ts';
import { findRule } from '../../rules/definitions/load-rules.ts';
import { liftSuppression } from '../suppressions/suppress.ts';
import { editRule } from '../../rules/write-rule.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { sendTeamDigest } from '../../review/send-team-digest.ts';

const stage = await openStage();
const { db } = stage.server;
const newId = idMaker(db.clock);
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

async function withEmail(rule: object = emailsRule({}, 2), users = ['ada']): Promise<OutcomeScenario> {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(rule);
  await sendTo(scenario, users);
  return scenario;
}

const endOf = async (scenario: OutcomeScenario, userId: string) =>
  (await scenario.runs(userId, 'Emails')).at(-1)?.end_reason;
const draftsOf = async (scenario: OutcomeScenario, userId: string) =>
  (await scenario.drafts(userId)).map(({ state, reason }) =>
    reason === null ? state : `${state}: ${reason}`,
  );

test('suppresses an address that does not exist, and ends its runs and drafts', async () => {
  const scenario = await withEmail();
  await scenario.rule({ ...emailsRule(), name: 'Other', when: { event: 'other' } });
  await scenario.event('ada', 'other');
  await scenario.later(MINUTE);
  await scenario.recordOutcome('ada', bounced('hard'));
  expect(await scenario.suppressed()).toEqual(['email ada@x.org: hard_bounce']);
  expect(await draftsOf(scenario, 'ada')).toEqual(['sent', 'canceled: bounced']);
  for (const rule of ['Emails', 'Other'])
    expect(await scenario.runs('ada', rule)).toMatchObject([{ end_reason: 'bounced' }]);
  await scenario.later(10 * DAY);
  expect(await scenario.emails()).toHaveLength(1);
});

test('ends the runs of both users who share an address that does not exist', async () => {
  const scenario = await withEmail();
  await scenario.user('twin', { email: 'Ada@X.org' });
  await scenario.event('twin', 'began');
  await scenario.later(MINUTE);
  await scenario.recordOutcome('ada', bounced('hard'));
  expect(await endOf(scenario, 'twin')).toBe('bounced');
});

test('records a rejection during SMTP as a bounce, in the commit that fails the draft', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule({}, 2));
  stage.engine.transport.setResult({
    result: 'failed',
    reason: 'bounced',
    reply: '550 5.1.1 no such user',
    bounce: { class: 'hard', status: '5.1.1' },
  });
  await sendTo(scenario, ['ada']);
  expect(await draftsOf(scenario, 'ada')).toEqual(['failed: bounced']);
  expect(await scenario.outcomes()).toEqual(['bounced']);
  const [hook] = await scenario.webhooks();
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({
    data: {
      bounce_class: 'hard',
      status: '5.1.1',
      reason: '5.1.1 no such user',
      source: 'smtp',
    },
  });
  expect(await scenario.suppressed()).toEqual(['email ada@x.org: hard_bounce']);
  expect(await endOf(scenario, 'ada')).toBe('bounced');
});

test('records a soft bounce when an email stays deferred until it is given up, and the run continues', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule({}, 2));
  stage.engine.transport.setResult({
    result: 'deferred',
    reason: 'deferred',
    reply: '452 4.2.2 mailbox full',
    bounce: { class: 'soft', status: '4.2.2' },
  });
  await sendTo(scenario, ['ada']);
  expect(await scenario.outcomes()).toEqual([]);
  await scenario.later(25 * HOUR);
  expect(await scenario.outcomes()).toEqual(['bounced']);
  const [hook] = await scenario.webhooks();
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({ data: { bounce_class: 'soft', status: '4.2.2' } });
  expect(await scenario.suppressed()).toEqual([]);
  expect((await scenario.runs('ada', 'Emails'))[0]?.state).toBe('active');
});

test('records a bounce when an email expires while it is deferred', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule({ expires_after: '2h' }));
  const reply = '452 4.2.2 mailbox full';
  stage.engine.transport.setResult({ result: 'deferred', reason: 'deferred', reply });
  await sendTo(scenario, ['ada']);
  await scenario.later(6 * HOUR);
  expect(await draftsOf(scenario, 'ada')).toEqual(['failed: deferred']);
  expect(await scenario.outcomes()).toEqual(['bounced']);
});

test('ends and suppresses nothing after an infrastructure bounce', async () => {
  const scenario = await withEmail();
  await scenario.recordOutcome('ada', bounced('infrastructure'));
  expect(await scenario.outcomes()).toEqual(['bounced']);
  expect(await scenario.suppressed()).toEqual([]);
  expect((await scenario.runs('ada', 'Emails'))[0]?.state).toBe('active');
});

test('suppresses an address for 30 days after five soft bounces in a row over three days', async () => {
  const scenario = await withEmail(emailsRule({ enrollment: { cooldown: '1h' } }));
  const soft = { ...bounced('soft') } as OutcomeData;
  for (let n = 1; n < 5; n += 1) {
    await scenario.recordOutcome('ada', soft);
    expect(await scenario.suppressed()).toEqual([]);
    await scenario.later(DAY);
    await sendTo(scenario, ['ada']);
  }
  const at = scenario.now();
  await scenario.recordOutcome('ada', soft);
  expect(await scenario.suppressed()).toEqual(['email ada@x.org: soft_bounces']);
  const [row] = await db.query<{ until: Date }>(
    'SELECT until FROM beckon.suppression WHERE project_id = $1',
    [scenario.projectId],
  );
  expect(row?.until.getTime()).toBe(at + 30 * DAY);
  await scenario.recordOutcome('ada', OPENED);
  expect(await scenario.suppressed()).toEqual([]);
});

test('does not suppress after soft bounces with a delivered email between them, or within less than three days', async () => {
  const scenario = await withEmail(emailsRule({ enrollment: { cooldown: '1h' } }));
  for (let n = 0; n < 8; n += 1) {
    if (n !== 3) await scenario.recordOutcome('ada', bounced('soft'));
    await scenario.later(n < 4 ? DAY : 2 * HOUR);
    await sendTo(scenario, ['ada']);
  }
  expect(await scenario.suppressed()).toEqual([]);
});

test.each([
  ['a link', { type: 'email.unsubscribed', method: 'link' } as const, 'unsubscribed'],
  ['one click', ONE_CLICK, 'unsubscribed'],
  ['a complaint', COMPLAINED, 'complained'],
])(
  'stops emails to a user who unsubscribes by %s, and to users with the same address',
  async (_, what, reason) => {
    const scenario = await withEmail();
    await scenario.user('twin', { email: 'ADA@x.org' });
    await scenario.event('twin', 'began');
    await scenario.later(MINUTE);
    await scenario.recordOutcome('ada', what);
    expect(await scenario.suppressed()).toEqual([`email ada@x.org: ${reason}`, `user ada: ${reason}`]);
    expect(await endOf(scenario, 'ada')).toBe('suppressed');
    expect(await draftsOf(scenario, 'twin')).toEqual(['canceled: suppressed']);
    await scenario.user('ada', { email: 'new@x.org' });
    await scenario.event('ada', 'began');
    await scenario.later(DAY);
    expect(await scenario.emails()).toHaveLength(1);
  },
);

test('suppresses a user again who came back and then unsubscribes once more', async () => {
  const scenario = await withEmail();
  const { projectId } = scenario;
  await scenario.recordOutcome('ada', ONE_CLICK);
  await liftSuppression(db, [{ projectId, kind: 'email', value: 'ada@x.org' }]);
  await liftSuppression(db, [{ projectId, kind: 'user', value: 'ada' }]);
  expect(await scenario.recordOutcome('ada', ONE_CLICK)).toEqual([]);
  expect(await scenario.suppressed()).toHaveLength(2);
  expect(await scenario.webhooks()).toHaveLength(1);
});

test('ends the runs of a user who replies, cancels untouched drafts and holds edited ones', async () => {
  const scenario = await withEmail();
  await scenario.rule({ ...emailsRule(), name: 'Approved', when: { event: 'also' }, deadline: '2d' });
  await scenario.rule({
    ...emailsRule({ exits: { on_reply: false } }),
    name: 'Bills',
    when: { event: 'billed' },
  });
  await scenario.rule({ ...emailsRule(), name: 'Untouched', when: { event: 'also' } });
  for (const name of ['also', 'billed']) await scenario.event('ada', name);
  await scenario.later(MINUTE);
  const drafts = await scenario.drafts('ada');
  const approved = drafts.find(({ rule }) => rule === 'Approved');
  await db.query(`UPDATE beckon.draft SET is_edited = true WHERE id = $1`, [approved?.id]);
  await scenario.recordOutcome('ada', REPLIED);
  const after = (await scenario.drafts('ada')).map(({ rule, state, reason }) => `${rule} ${state} ${reason}`);
  expect(after.toSorted()).toEqual([
    'Approved held replied',
    'Bills scheduled null',
    'Emails sent null',
    'Untouched canceled replied',
  ]);
  expect(await endOf(scenario, 'ada')).toBe('replied');
  expect((await scenario.runs('ada', 'Bills'))[0]?.state).toBe('active');
});

/** Sends the first of two emails, lets the recipient's server defer the second, and then records a reply. */
async function withPutOff(touch: (scenario: OutcomeScenario) => Promise<unknown>): Promise<OutcomeScenario> {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule({}, 2));
  await sendTo(scenario, ['ada']);
  await scenario.later(2 * DAY + MINUTE);
  await touch(scenario);
  stage.engine.transport.setResult({ result: 'deferred', reason: 'deferred', reply: '451 4.7.1 later' });
  await scenario.later(HOUR);
  expect(await draftsOf(scenario, 'ada')).toEqual(['sent', 'held: deferred']);
  const [first] = await scenario.messages('ada');
  await scenario.record([{ ...REPLIED, emailId: first?.id ?? '', occurredAt: scenario.now() }]);
  stage.engine.transport.setResult({ result: 'sent' });
  await scenario.later(5 * HOUR);
  return scenario;
}

test('cancels an untouched deferred email after a reply', async () => {
  const scenario = await withPutOff(async () => {});
  expect(await draftsOf(scenario, 'ada')).toEqual(['sent', 'canceled: replied']);
  expect((await scenario.messages('ada')).at(-1)).toMatchObject({ state: 'failed', reason: 'replied' });
});

const WORDS = { subject: 'Other words', preheader: '', body: 'Again', format: 'markdown' as const };

test.each([
  ['approved', { kind: 'approve' as const }],
  ['edited', { kind: 'edit' as const, content: WORDS }],
])('after a reply, holds a deferred email that a member %s', async (_, act) => {
  const scenario = await withPutOff((deferred) => deferred.act('ada', act));
  expect(await draftsOf(scenario, 'ada')).toEqual(['sent', 'held: replied']);
  await expect(scenario.act('ada', { kind: 'edit', content: WORDS })).rejects.toMatchObject({
    code: 'conflict',
  });
  await scenario.act('ada', { kind: 'approve' });
  await scenario.later(MINUTE);
  expect(await draftsOf(scenario, 'ada')).toEqual(['sent', 'sent']);
});

test('does not send a deferred email that waits for a member to another address', async () => {
  const scenario = await withPutOff((deferred) => deferred.act('ada', { kind: 'approve' }));
  await scenario.act('ada', { kind: 'approve' });
  await scenario.user('ada', { email: 'new@x.org' });
  await scenario.later(MINUTE);
  expect(await draftsOf(scenario, 'ada')).toEqual(['sent', 'canceled: address_changed']);
});

test('lifts bounce suppressions after human engagement, and not after a bot', async () => {
  const scenario = await withEmail();
  await scenario.recordOutcome('ada', bounced('hard'));
  await scenario.recordOutcome('ada', BOT_OPENED);
  expect(await scenario.suppressed()).toHaveLength(1);
  await scenario.recordOutcome('ada', CLICKED);
  expect(await scenario.suppressed()).toEqual([]);
  await scenario.recordOutcome('ada', COMPLAINED, REPLIED);
  expect(await scenario.suppressed()).toHaveLength(2);
});

test.each([
  { what: BOT_OPENED, name: 'an open, even of a machine,', knows: ['sent', null] },
  { what: CLICKED, name: 'a click', knows: ['sent', null] },
  { what: REPLIED, name: 'an answer', knows: ['sent', null] },
  { what: ONE_CLICK, name: 'an unsubscribe', knows: ['sent', null] },
  { what: bounced('hard'), name: 'a bounce', knows: ['failed', 'bounced'] },
  { what: bounced('policy'), name: 'a refusal', knows: ['failed', 'rejected'] },
])('$name resolves an email whose delivery was unknown', async ({ what, knows }) => {
  stage.engine.transport.setResult({ result: 'unknown', reason: 'lost' });
  const scenario = await withEmail();
  await scenario.recordOutcome('ada', what);
  const [draft] = await scenario.drafts('ada');
  const [message] = await scenario.messages('ada');
  expect([draft?.state, draft?.reason]).toEqual(knows);
  expect([message?.state, message?.reason]).toEqual(knows);
});

test.each([
  { what: CLICKED, name: 'a click', knows: 'sent' },
  { what: bounced('hard'), name: 'a bounce', knows: 'failed: bounced' },
])(
  '$name that arrives during sending resolves the email when its delivery becomes unknown',
  async ({ what, knows }) => {
    const scenario = await newOutcomeScenario(stage);
    await scenario.rule(emailsRule({}, 2));
    stage.engine.transport.setResult(async () => {
      await scenario.recordOutcome('ada', what);
      return { result: 'unknown', reason: 'lost' };
    });
    await sendTo(scenario, ['ada']);
    expect(await draftsOf(scenario, 'ada')).toEqual([knows]);
    expect((await scenario.messages('ada')).map(({ state }) => state)).toEqual([knows.split(':')[0]]);
  },
);

test('reports an email that the relay rejected until it expired as an infrastructure bounce', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule({ expires_after: '1h' }, 1));
  stage.engine.transport.setResult({
    result: 'deferred',
    reason: 'relay_rejected',
    isRelayFault: true,
    reply: '554 5.7.1 Relay access denied',
    bounce: { class: 'policy', status: '5.7.1' },
  });
  await sendTo(scenario, ['ada']);
  await scenario.later(3 * HOUR);
  const [hook] = await scenario.webhooks();
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({ data: { bounce_class: 'infrastructure' } });
});

test('does not resolve an unknown delivery by a forged bounce', async () => {
  stage.engine.transport.setResult({ result: 'unknown', reason: 'lost' });
  const scenario = await withEmail();
  await scenario.recordOutcome('ada', bounced('hard', false));
  expect(await draftsOf(scenario, 'ada')).toEqual(['unknown: lost']);
});

async function many(rule: object, count: number): Promise<{ scenario: OutcomeScenario; users: string[] }> {
  const users = Array.from({ length: count }, (_, n) => `u${n}`);
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(rule);
  for (const userId of users) await scenario.user(userId, { email: `${userId}@x.org` });
  await scenario.post('events/batch', {
    events: users.map((id) => ({ external_user_id: id, name: 'began', properties: {} })),
  });
  // The throttle allows only some emails per second.
  await scenario.later(HOUR + MINUTE);
  return { scenario, users };
}

test.each([
  { what: COMPLAINED, count: 2, why: '2 complaints among its last 40 emails' },
  { what: bounced('hard'), count: 5, why: '5 hard bounces among its last 40 emails' },
  { what: ONE_CLICK, count: 6, why: '6 unsubscribes among its last 40 emails' },
])(
  '$why turn off autopilot for the rule, and none of its emails is sent automatically',
  async ({ count, what, why }) => {
    const { scenario, users } = await many(emailsRule({ deadline: '1h' }, 2), 40);
    const { projectId } = scenario;
    await scenario.user('new', { email: 'new@x.org' });
    await scenario.event('new', 'began');
    await scenario.later(MINUTE);
    for (const userId of users.slice(0, count - 1)) await scenario.recordOutcome(userId, what);
    expect(await findRule(db, { projectId, reference: 'Emails' })).toMatchObject({ mode: 'autopilot' });
    await scenario.recordOutcome(users[count - 1] ?? '', what);
    const demoted = await findRule(db, { projectId, reference: 'Emails' });
    expect(demoted).toMatchObject({ mode: 'draft', demotedAt: scenario.now(), demotedReason: why });
    expect((await scenario.drafts('new')).at(-1)).toMatchObject({
      state: 'scheduled',
      deadlineAt: null,
      autopilotMs: null,
    });
    await scenario.later(10 * DAY);
    expect(await scenario.emails()).toHaveLength(40);
    const texts: string[] = [];
    const submit = async (_of: number, { text }: { text: string }): Promise<void> => void texts.push(text);
    await sendTeamDigest(db, { projectId, publicUrl: 'http://b.example', submit });
    expect(texts.join('\n')).toContain(`Autopilot is off for the rule Emails, because of ${why}`);
  },
);

test('counts from zero after a member turns autopilot on again', async () => {
  const { scenario, users } = await many(emailsRule(), 40);
  const { projectId } = scenario;
  for (const userId of users.slice(0, 2)) await scenario.recordOutcome(userId, COMPLAINED);
  const rule = { document: emailsRule(), reference: 'Emails', includeOpen: false, actor: 'ann' };
  await editRule(db, { projectId, ...rule });
  await scenario.recordOutcome('u3', COMPLAINED);
  expect(await findRule(db, { projectId, reference: 'Emails' })).toMatchObject({ mode: 'autopilot' });
});

test('leaves autopilot on for other rules when users unsubscribe from one', async () => {
  const { scenario, users } = await many(emailsRule(), 12);
  await scenario.rule({ ...emailsRule(), name: 'Other', when: { event: 'other' } });
  for (const userId of users.slice(0, 8)) await scenario.recordOutcome(userId, ONE_CLICK);
  const modes = await Promise.all(
    ['Emails', 'Other'].map((reference) => findRule(db, { projectId: scenario.projectId, reference })),
  );
  expect(modes.map(({ mode }) => mode)).toEqual(['draft', 'autopilot']);
});

test('pauses a domain after more than five policy rejections among its last 100 emails', async () => {
  const { scenario, users } = await many(emailsRule(), 30);
  const { projectId } = scenario;
  await db.query(
    `INSERT INTO beckon.sending_domain (project_id, id, name, state, findings, misses, created_at, state_at, throttle, warm)
     VALUES ($1, $2, 'acme.example', 'verified', '[]', 0, now(), now(), 'off', true)`,
    [projectId, newId()],
  );
  await db.query(`UPDATE beckon.email SET domain = 'mail.acme.example' WHERE project_id = $1`, [projectId]);
  const paused = async () =>
    (
      await db.query<{ why: string | null }>(
        'SELECT paused_reason AS why FROM beckon.sending_domain WHERE project_id = $1',
        [projectId],
      )
    )[0]?.why;
  for (const userId of users.slice(0, 5)) await scenario.recordOutcome(userId, bounced('policy'));
  expect(await paused()).toBeNull();
  await scenario.recordOutcome('u6', bounced('policy'));
  expect(await paused()).toBe('6 of its last 30 emails were rejected because of their content or sender');
  expect(await scenario.suppressed()).toEqual([]);
  await scenario.later(MINUTE);
  const texts: string[] = [];
  const submit = async (_of: number, { text }: { text: string }): Promise<void> => void texts.push(text);
  await sendTeamDigest(db, { projectId, publicUrl: 'http://b.example', submit });
  expect(texts.join('\n')).toContain('acme.example is paused');

  const { resumeDomain } = await import('../../sending/domains/change-domain.ts');
  await scenario.later(MINUTE);
  const ref = { projectId, name: 'acme.example' };
  expect(await resumeDomain(db, ref)).toMatchObject({ wasPaused: true });
  expect(await resumeDomain(db, ref)).toMatchObject({ wasPaused: false });
  await scenario.recordOutcome('u7', bounced('policy'));
  expect(await paused()).toBeNull();
});

test('pauses a domain after policy rejections during SMTP', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule());
  await db.query(
    `INSERT INTO beckon.sending_domain (project_id, id, name, state, findings, misses, created_at, state_at, throttle, warm)
     VALUES ($1, $2, 'test-inbox.invalid', 'verified', '[]', 0, now(), now(), 'off', true)`,
    [scenario.projectId, newId()],
  );
  const bounce = { class: 'policy', status: '5.7.1' } as const;
  stage.engine.transport.setResult({ result: 'failed', reason: 'rejected', reply: '550 5.7.1 spam', bounce });
  await sendTo(scenario, ['a', 'b', 'c', 'd', 'e', 'f']);
  await scenario.later(MINUTE);
  expect(await scenario.outcomes()).toHaveLength(6);
  expect(
    await db.query('SELECT paused_reason FROM beckon.sending_domain WHERE project_id = $1', [
      scenario.projectId,
    ]),
  ).toEqual([{ paused_reason: '6 of its last 6 emails were rejected because of their content or sender' }]);
  expect(await scenario.suppressed()).toEqual([]);
});

test('lifts a bounce suppression when the user opens the same email again', async () => {
  const scenario = await withEmail();
  await scenario.recordOutcome('ada', OPENED);
  await scenario.recordOutcome('ada', bounced('hard'));
  expect(await scenario.recordOutcome('ada', OPENED)).toEqual([]);
  expect(await scenario.suppressed()).toEqual([]);
});

test('records many bounces without deadlocks while the project is processed, sends emails and erases users', async () => {
  const { scenario, users } = await many(emailsRule({}, 2), 40);
  const { projectId } = scenario;
  const becoming = users.map((userId, n) =>
    scenario.recordOutcome(userId, n % 2 === 0 ? bounced('hard') : OPENED),
  );
  const erasing = users
    .slice(0, 8)
    .map((userId) => erasePerson({ db, newId, hasher: testHasher }, { projectId, userId }));
  const events = users.map((id) => ({ external_user_id: id, name: 'seen', properties: {} }));
  await Promise.all([
    ...becoming,
    ...erasing,
    scenario.post('events/batch', { events }),
    stage.engine.settle(),
  ]);
  await stage.engine.settle();
  const rows = await db.query<{ n: number }>(
    `SELECT count(*) AS n FROM beckon.outcome WHERE project_id = $1 AND external_user_id = ANY ($2)`,
    [projectId, users.slice(0, 8)],
  );
  expect(rows).toEqual([{ n: 0 }]);
  expect((await scenario.outcomes()).length).toBe(32);
});
