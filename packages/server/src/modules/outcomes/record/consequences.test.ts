import { beforeEach, expect, test } from 'vitest';
import {
  type Aftermath,
  bounced,
  CLICKED,
  COMPLAINED,
  emailsRule,
  BOT_OPENED,
  newAftermath,
  ONE_CLICK,
  OPENED,
  REPLIED,
  sendTo,
} from '../../../../testkit/became.ts';
import { testHasher } from '../../../../testkit/hasher.ts';
import { HOUR, MINUTE } from '../../../../testkit/drafts.ts';
import { DAY, openStage } from '../../../../testkit/story.ts';
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

async function withEmail(rule: object = emailsRule({}, 2), users = ['ada']): Promise<Aftermath> {
  const story = await newAftermath(stage);
  await story.rule(rule);
  await sendTo(story, users);
  return story;
}

const endOf = async (story: Aftermath, userId: string) =>
  (await story.runs(userId, 'Emails')).at(-1)?.end_reason;
const draftsOf = async (story: Aftermath, userId: string) =>
  (await story.drafts(userId)).map(({ state, reason }) => (reason === null ? state : `${state}: ${reason}`));

test('suppresses an address that does not exist, and ends its runs and drafts', async () => {
  const story = await withEmail();
  await story.rule({ ...emailsRule(), name: 'Other', when: { event: 'other' } });
  await story.event('ada', 'other');
  await story.later(MINUTE);
  await story.became('ada', bounced('hard'));
  expect(await story.suppressed()).toEqual(['email ada@x.org: hard_bounce']);
  expect(await draftsOf(story, 'ada')).toEqual(['sent', 'canceled: bounced']);
  for (const rule of ['Emails', 'Other'])
    expect(await story.runs('ada', rule)).toMatchObject([{ end_reason: 'bounced' }]);
  await story.later(10 * DAY);
  expect(await story.emails()).toHaveLength(1);
});

test('ends the runs of both users who share an address that does not exist', async () => {
  const story = await withEmail();
  await story.user('twin', { email: 'Ada@X.org' });
  await story.event('twin', 'began');
  await story.later(MINUTE);
  await story.became('ada', bounced('hard'));
  expect(await endOf(story, 'twin')).toBe('bounced');
});

test('records a rejection during SMTP as a bounce, in the commit that fails the draft', async () => {
  const story = await newAftermath(stage);
  await story.rule(emailsRule({}, 2));
  stage.engine.transport.setResult({
    result: 'failed',
    reason: 'bounced',
    reply: '550 5.1.1 no such user',
    bounce: { class: 'hard', status: '5.1.1' },
  });
  await sendTo(story, ['ada']);
  expect(await draftsOf(story, 'ada')).toEqual(['failed: bounced']);
  expect(await story.outcomes()).toEqual(['bounced']);
  const [hook] = await story.webhooks();
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({
    data: {
      bounce_class: 'hard',
      status: '5.1.1',
      reason: '5.1.1 no such user',
      source: 'smtp',
    },
  });
  expect(await story.suppressed()).toEqual(['email ada@x.org: hard_bounce']);
  expect(await endOf(story, 'ada')).toBe('bounced');
});

test('records a soft bounce when an email stays deferred until it is given up, and the run continues', async () => {
  const story = await newAftermath(stage);
  await story.rule(emailsRule({}, 2));
  stage.engine.transport.setResult({
    result: 'deferred',
    reason: 'deferred',
    reply: '452 4.2.2 mailbox full',
    bounce: { class: 'soft', status: '4.2.2' },
  });
  await sendTo(story, ['ada']);
  expect(await story.outcomes()).toEqual([]);
  await story.later(25 * HOUR);
  expect(await story.outcomes()).toEqual(['bounced']);
  const [hook] = await story.webhooks();
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({ data: { bounce_class: 'soft', status: '4.2.2' } });
  expect(await story.suppressed()).toEqual([]);
  expect((await story.runs('ada', 'Emails'))[0]?.state).toBe('active');
});

test('records a bounce when an email expires while it is deferred', async () => {
  const story = await newAftermath(stage);
  await story.rule(emailsRule({ expires_after: '2h' }));
  const reply = '452 4.2.2 mailbox full';
  stage.engine.transport.setResult({ result: 'deferred', reason: 'deferred', reply });
  await sendTo(story, ['ada']);
  await story.later(6 * HOUR);
  expect(await draftsOf(story, 'ada')).toEqual(['failed: deferred']);
  expect(await story.outcomes()).toEqual(['bounced']);
});

test('ends and suppresses nothing after an infrastructure bounce', async () => {
  const story = await withEmail();
  await story.became('ada', bounced('infrastructure'));
  expect(await story.outcomes()).toEqual(['bounced']);
  expect(await story.suppressed()).toEqual([]);
  expect((await story.runs('ada', 'Emails'))[0]?.state).toBe('active');
});

test('suppresses an address for 30 days after five soft bounces in a row over three days', async () => {
  const story = await withEmail(emailsRule({ enrollment: { cooldown: '1h' } }));
  const soft = { ...bounced('soft') } as OutcomeData;
  for (let n = 1; n < 5; n += 1) {
    await story.became('ada', soft);
    expect(await story.suppressed()).toEqual([]);
    await story.later(DAY);
    await sendTo(story, ['ada']);
  }
  const at = story.now();
  await story.became('ada', soft);
  expect(await story.suppressed()).toEqual(['email ada@x.org: soft_bounces']);
  const [row] = await db.query<{ until: Date }>(
    'SELECT until FROM beckon.suppression WHERE project_id = $1',
    [story.projectId],
  );
  expect(row?.until.getTime()).toBe(at + 30 * DAY);
  await story.became('ada', OPENED);
  expect(await story.suppressed()).toEqual([]);
});

test('does not suppress after soft bounces with a delivered email between them, or within less than three days', async () => {
  const story = await withEmail(emailsRule({ enrollment: { cooldown: '1h' } }));
  for (let n = 0; n < 8; n += 1) {
    if (n !== 3) await story.became('ada', bounced('soft'));
    await story.later(n < 4 ? DAY : 2 * HOUR);
    await sendTo(story, ['ada']);
  }
  expect(await story.suppressed()).toEqual([]);
});

test.each([
  ['a link', { type: 'email.unsubscribed', method: 'link' } as const, 'unsubscribed'],
  ['one click', ONE_CLICK, 'unsubscribed'],
  ['a complaint', COMPLAINED, 'complained'],
])(
  'stops emails to a user who unsubscribes by %s, and to users with the same address',
  async (_, what, reason) => {
    const story = await withEmail();
    await story.user('twin', { email: 'ADA@x.org' });
    await story.event('twin', 'began');
    await story.later(MINUTE);
    await story.became('ada', what);
    expect(await story.suppressed()).toEqual([`email ada@x.org: ${reason}`, `user ada: ${reason}`]);
    expect(await endOf(story, 'ada')).toBe('suppressed');
    expect(await draftsOf(story, 'twin')).toEqual(['canceled: suppressed']);
    await story.user('ada', { email: 'new@x.org' });
    await story.event('ada', 'began');
    await story.later(DAY);
    expect(await story.emails()).toHaveLength(1);
  },
);

test('suppresses a user again who came back and then unsubscribes once more', async () => {
  const story = await withEmail();
  const { projectId } = story;
  await story.became('ada', ONE_CLICK);
  await liftSuppression(db, [{ projectId, kind: 'email', value: 'ada@x.org' }]);
  await liftSuppression(db, [{ projectId, kind: 'user', value: 'ada' }]);
  expect(await story.became('ada', ONE_CLICK)).toEqual([]);
  expect(await story.suppressed()).toHaveLength(2);
  expect(await story.webhooks()).toHaveLength(1);
});

test('ends the runs of a user who replies, cancels untouched drafts and holds edited ones', async () => {
  const story = await withEmail();
  await story.rule({ ...emailsRule(), name: 'Approved', when: { event: 'also' }, deadline: '2d' });
  await story.rule({
    ...emailsRule({ exits: { on_reply: false } }),
    name: 'Bills',
    when: { event: 'billed' },
  });
  await story.rule({ ...emailsRule(), name: 'Untouched', when: { event: 'also' } });
  for (const name of ['also', 'billed']) await story.event('ada', name);
  await story.later(MINUTE);
  const drafts = await story.drafts('ada');
  const approved = drafts.find(({ rule }) => rule === 'Approved');
  await db.query(`UPDATE beckon.draft SET is_edited = true WHERE id = $1`, [approved?.id]);
  await story.became('ada', REPLIED);
  const after = (await story.drafts('ada')).map(({ rule, state, reason }) => `${rule} ${state} ${reason}`);
  expect(after.toSorted()).toEqual([
    'Approved held replied',
    'Bills scheduled null',
    'Emails sent null',
    'Untouched canceled replied',
  ]);
  expect(await endOf(story, 'ada')).toBe('replied');
  expect((await story.runs('ada', 'Bills'))[0]?.state).toBe('active');
});

/** Sends the first of two emails, lets the recipient's server defer the second, and then records a reply. */
async function withPutOff(touch: (story: Aftermath) => Promise<unknown>): Promise<Aftermath> {
  const story = await newAftermath(stage);
  await story.rule(emailsRule({}, 2));
  await sendTo(story, ['ada']);
  await story.later(2 * DAY + MINUTE);
  await touch(story);
  stage.engine.transport.setResult({ result: 'deferred', reason: 'deferred', reply: '451 4.7.1 later' });
  await story.later(HOUR);
  expect(await draftsOf(story, 'ada')).toEqual(['sent', 'held: deferred']);
  const [first] = await story.messages('ada');
  await story.record([{ ...REPLIED, emailId: first?.id ?? '', occurredAt: story.now() }]);
  stage.engine.transport.setResult({ result: 'sent' });
  await story.later(5 * HOUR);
  return story;
}

test('cancels an untouched deferred email after a reply', async () => {
  const story = await withPutOff(async () => {});
  expect(await draftsOf(story, 'ada')).toEqual(['sent', 'canceled: replied']);
  expect((await story.messages('ada')).at(-1)).toMatchObject({ state: 'failed', reason: 'replied' });
});

const WORDS = { subject: 'Other words', preheader: '', body: 'Again', format: 'markdown' as const };

test.each([
  ['approved', { kind: 'approve' as const }],
  ['edited', { kind: 'edit' as const, content: WORDS }],
])('after a reply, holds a deferred email that a member %s', async (_, act) => {
  const story = await withPutOff((deferred) => deferred.act('ada', act));
  expect(await draftsOf(story, 'ada')).toEqual(['sent', 'held: replied']);
  await expect(story.act('ada', { kind: 'edit', content: WORDS })).rejects.toMatchObject({
    code: 'conflict',
  });
  await story.act('ada', { kind: 'approve' });
  await story.later(MINUTE);
  expect(await draftsOf(story, 'ada')).toEqual(['sent', 'sent']);
});

test('does not send a deferred email that waits for a member to another address', async () => {
  const story = await withPutOff((deferred) => deferred.act('ada', { kind: 'approve' }));
  await story.act('ada', { kind: 'approve' });
  await story.user('ada', { email: 'new@x.org' });
  await story.later(MINUTE);
  expect(await draftsOf(story, 'ada')).toEqual(['sent', 'canceled: address_changed']);
});

test('lifts bounce suppressions after human engagement, and not after a bot', async () => {
  const story = await withEmail();
  await story.became('ada', bounced('hard'));
  await story.became('ada', BOT_OPENED);
  expect(await story.suppressed()).toHaveLength(1);
  await story.became('ada', CLICKED);
  expect(await story.suppressed()).toEqual([]);
  await story.became('ada', COMPLAINED, REPLIED);
  expect(await story.suppressed()).toHaveLength(2);
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
  const story = await withEmail();
  await story.became('ada', what);
  const [draft] = await story.drafts('ada');
  const [message] = await story.messages('ada');
  expect([draft?.state, draft?.reason]).toEqual(knows);
  expect([message?.state, message?.reason]).toEqual(knows);
});

test.each([
  { what: CLICKED, name: 'a click', knows: 'sent' },
  { what: bounced('hard'), name: 'a bounce', knows: 'failed: bounced' },
])(
  '$name that arrives during sending resolves the email when its delivery becomes unknown',
  async ({ what, knows }) => {
    const story = await newAftermath(stage);
    await story.rule(emailsRule({}, 2));
    stage.engine.transport.setResult(async () => {
      await story.became('ada', what);
      return { result: 'unknown', reason: 'lost' };
    });
    await sendTo(story, ['ada']);
    expect(await draftsOf(story, 'ada')).toEqual([knows]);
    expect((await story.messages('ada')).map(({ state }) => state)).toEqual([knows.split(':')[0]]);
  },
);

test('reports an email that the relay rejected until it expired as an infrastructure bounce', async () => {
  const story = await newAftermath(stage);
  await story.rule(emailsRule({ expires_after: '1h' }, 1));
  stage.engine.transport.setResult({
    result: 'deferred',
    reason: 'relay_rejected',
    isRelayFault: true,
    reply: '554 5.7.1 Relay access denied',
    bounce: { class: 'policy', status: '5.7.1' },
  });
  await sendTo(story, ['ada']);
  await story.later(3 * HOUR);
  const [hook] = await story.webhooks();
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({ data: { bounce_class: 'infrastructure' } });
});

test('does not resolve an unknown delivery by a forged bounce', async () => {
  stage.engine.transport.setResult({ result: 'unknown', reason: 'lost' });
  const story = await withEmail();
  await story.became('ada', bounced('hard', false));
  expect(await draftsOf(story, 'ada')).toEqual(['unknown: lost']);
});

async function many(rule: object, count: number): Promise<{ story: Aftermath; users: string[] }> {
  const users = Array.from({ length: count }, (_, n) => `u${n}`);
  const story = await newAftermath(stage);
  await story.rule(rule);
  for (const userId of users) await story.user(userId, { email: `${userId}@x.org` });
  await story.post('events/batch', {
    events: users.map((id) => ({ external_user_id: id, name: 'began', properties: {} })),
  });
  // The throttle allows only some emails per second.
  await story.later(HOUR + MINUTE);
  return { story, users };
}

test.each([
  { what: COMPLAINED, count: 2, why: '2 complaints among its last 40 emails' },
  { what: bounced('hard'), count: 5, why: '5 hard bounces among its last 40 emails' },
  { what: ONE_CLICK, count: 6, why: '6 unsubscribes among its last 40 emails' },
])(
  '$why turn off autopilot for the rule, and none of its emails is sent automatically',
  async ({ count, what, why }) => {
    const { story, users } = await many(emailsRule({ deadline: '1h' }, 2), 40);
    const { projectId } = story;
    await story.user('new', { email: 'new@x.org' });
    await story.event('new', 'began');
    await story.later(MINUTE);
    for (const userId of users.slice(0, count - 1)) await story.became(userId, what);
    expect(await findRule(db, { projectId, reference: 'Emails' })).toMatchObject({ mode: 'autopilot' });
    await story.became(users[count - 1] ?? '', what);
    const demoted = await findRule(db, { projectId, reference: 'Emails' });
    expect(demoted).toMatchObject({ mode: 'draft', demotedAt: story.now(), demotedReason: why });
    expect((await story.drafts('new')).at(-1)).toMatchObject({
      state: 'scheduled',
      deadlineAt: null,
      autopilotMs: null,
    });
    await story.later(10 * DAY);
    expect(await story.emails()).toHaveLength(40);
    const texts: string[] = [];
    const submit = async (_of: number, { text }: { text: string }): Promise<void> => void texts.push(text);
    await sendTeamDigest(db, { projectId, publicUrl: 'http://b.example', submit });
    expect(texts.join('\n')).toContain(`Autopilot is off for the rule Emails, because of ${why}`);
  },
);

test('counts from zero after a member turns autopilot on again', async () => {
  const { story, users } = await many(emailsRule(), 40);
  const { projectId } = story;
  for (const userId of users.slice(0, 2)) await story.became(userId, COMPLAINED);
  const rule = { document: emailsRule(), reference: 'Emails', includeOpen: false, actor: 'ann' };
  await editRule(db, { projectId, ...rule });
  await story.became('u3', COMPLAINED);
  expect(await findRule(db, { projectId, reference: 'Emails' })).toMatchObject({ mode: 'autopilot' });
});

test('leaves autopilot on for other rules when users unsubscribe from one', async () => {
  const { story, users } = await many(emailsRule(), 12);
  await story.rule({ ...emailsRule(), name: 'Other', when: { event: 'other' } });
  for (const userId of users.slice(0, 8)) await story.became(userId, ONE_CLICK);
  const modes = await Promise.all(
    ['Emails', 'Other'].map((reference) => findRule(db, { projectId: story.projectId, reference })),
  );
  expect(modes.map(({ mode }) => mode)).toEqual(['draft', 'autopilot']);
});

test('pauses a domain after more than five policy rejections among its last 100 emails', async () => {
  const { story, users } = await many(emailsRule(), 30);
  const { projectId } = story;
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
  for (const userId of users.slice(0, 5)) await story.became(userId, bounced('policy'));
  expect(await paused()).toBeNull();
  await story.became('u6', bounced('policy'));
  expect(await paused()).toBe('6 of its last 30 emails were rejected because of their content or sender');
  expect(await story.suppressed()).toEqual([]);
  await story.later(MINUTE);
  const texts: string[] = [];
  const submit = async (_of: number, { text }: { text: string }): Promise<void> => void texts.push(text);
  await sendTeamDigest(db, { projectId, publicUrl: 'http://b.example', submit });
  expect(texts.join('\n')).toContain('acme.example is paused');

  const { resumeDomain } = await import('../../sending/domains/change-domain.ts');
  await story.later(MINUTE);
  const ref = { projectId, name: 'acme.example' };
  expect(await resumeDomain(db, ref)).toMatchObject({ wasPaused: true });
  expect(await resumeDomain(db, ref)).toMatchObject({ wasPaused: false });
  await story.became('u7', bounced('policy'));
  expect(await paused()).toBeNull();
});

test('pauses a domain after policy rejections during SMTP', async () => {
  const story = await newAftermath(stage);
  await story.rule(emailsRule());
  await db.query(
    `INSERT INTO beckon.sending_domain (project_id, id, name, state, findings, misses, created_at, state_at, throttle, warm)
     VALUES ($1, $2, 'test-inbox.invalid', 'verified', '[]', 0, now(), now(), 'off', true)`,
    [story.projectId, newId()],
  );
  const bounce = { class: 'policy', status: '5.7.1' } as const;
  stage.engine.transport.setResult({ result: 'failed', reason: 'rejected', reply: '550 5.7.1 spam', bounce });
  await sendTo(story, ['a', 'b', 'c', 'd', 'e', 'f']);
  await story.later(MINUTE);
  expect(await story.outcomes()).toHaveLength(6);
  expect(
    await db.query('SELECT paused_reason FROM beckon.sending_domain WHERE project_id = $1', [
      story.projectId,
    ]),
  ).toEqual([{ paused_reason: '6 of its last 6 emails were rejected because of their content or sender' }]);
  expect(await story.suppressed()).toEqual([]);
});

test('lifts a bounce suppression when the user opens the same email again', async () => {
  const story = await withEmail();
  await story.became('ada', OPENED);
  await story.became('ada', bounced('hard'));
  expect(await story.became('ada', OPENED)).toEqual([]);
  expect(await story.suppressed()).toEqual([]);
});

test('records many bounces without deadlocks while the project is processed, sends emails and erases users', async () => {
  const { story, users } = await many(emailsRule({}, 2), 40);
  const { projectId } = story;
  const becoming = users.map((userId, n) => story.became(userId, n % 2 === 0 ? bounced('hard') : OPENED));
  const erasing = users
    .slice(0, 8)
    .map((userId) => erasePerson({ db, newId, hasher: testHasher }, { projectId, userId }));
  const events = users.map((id) => ({ external_user_id: id, name: 'seen', properties: {} }));
  await Promise.all([...becoming, ...erasing, story.post('events/batch', { events }), stage.engine.settle()]);
  await stage.engine.settle();
  const rows = await db.query<{ n: number }>(
    `SELECT count(*) AS n FROM beckon.outcome WHERE project_id = $1 AND external_user_id = ANY ($2)`,
    [projectId, users.slice(0, 8)],
  );
  expect(rows).toEqual([{ n: 0 }]);
  expect((await story.outcomes()).length).toBe(32);
});
