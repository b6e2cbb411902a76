import { expect, test } from 'vitest';
import type { Entry } from '../journal.ts';
import type { Facts } from './facts.ts';
import { judgeFacts } from './index.ts';
import {
  DRAFT,
  event,
  eventRow,
  KEYS,
  madeUp,
  MESSAGE,
  MINUTE,
  move,
  OUTCOME,
  QUIET_AT,
  SECOND,
  T0,
  told,
} from './made-up.ts';

type Case = [invariant: string, what: string, spoil: (facts: Facts) => void, more?: Entry[]];

const first = <T>(list: T[]): T => {
  const [one] = list;
  if (one === undefined) throw new Error('there is none');
  return one;
};
const tries = (facts: Facts, request: string): Facts['requests'][number]['tries'] =>
  facts.requests.find((one) => one.request === request)?.tries ?? [];
const answer = (facts: Facts, request: string): { status: number; body: string; replayed: boolean } => {
  const found = tries(facts, request).findLast((one) => one.answer !== null)?.answer;
  if (!found) throw new Error(`${request} was not answered`);
  return found;
};
const act = (
  name: 'suppress' | 'pause' | 'unverify_domain' | 'skip' | 'approve',
  subject: string,
  at = 35,
): Entry => ({
  kind: 'act',
  at: T0 + at * SECOND,
  done: T0 + at * SECOND,
  act: name,
  project: '1',
  subject,
  status: 200,
});
const bulk = (request: string, from: number, until: number): Entry[] =>
  told({
    request,
    path: 'users/bulk',
    body: { users: [{ external_user_id: 'u1' }] },
    from,
    until,
    status: 200,
    answer: { data: { accepted: 1, rejected: 0, errors: [] }, meta: { received: 1 } },
  });
const held = (waiting: number): Entry[] => [
  { kind: 'held', at: T0 + 100 * SECOND, project: '1', waiting },
  { kind: 'let_go', at: T0 + 200 * SECOND, project: '1' },
];
const full = (request: string, from: number): Entry[] =>
  told({
    request,
    path: 'users/bulk',
    body: { users: [{ external_user_id: 'u1' }] },
    from,
    until: from + 1,
    status: 429,
    answer: { errors: [{ code: 'backfill_queue_full' }] },
  });

test('finds no violations in a correct history', () => {
  expect(judgeFacts(madeUp()).violations).toEqual([]);
});

test('accepts a queue_full response at the moment when processing resumes', () => {
  expect(judgeFacts(madeUp([...held(50_000), ...full('last', 199)])).violations).toEqual([]);
});

const OF_REQUESTS: Case[] = [
  ['I1', 'an event that was acknowledged is not there', ({ rows }) => rows.events.shift()],
  [
    'I1',
    'an event is there more often than it was accepted',
    ({ rows }) => rows.events.push(eventRow('login', { n: 1 }, 9)),
  ],
  [
    'I1',
    'an event is suppressed, or is not, against what was sent',
    ({ rows }) => (first(rows.events).suppressed = true),
  ],
  [
    'I1',
    'a request came in front of one that was answered before it began',
    ({ rows }) => (first(rows.events).seq = 7),
  ],
  ['I1', 'a user that was acknowledged is not there', ({ rows }) => rows.people.shift()],
  [
    'I1',
    'a trait is not what was said of it last',
    ({ rows }) => (first(rows.people).traits = { plan: 'free', seats: 3 }),
  ],
  ['I1', 'a trait is not what was said of it last', ({ rows }) => (first(rows.people).email = null)],
  [
    'I1',
    'a watermark is not that of the order of acceptance',
    ({ rows }) => (first(rows.people).suppressedSeq = 2),
  ],
  [
    'I2',
    'a request whose key was taken is not wholly there',
    ({ rows, requests }) => {
      rows.events = rows.events.filter(({ seq }) => seq !== 4);
      for (const one of tries({ requests } as Facts, 'lost')) one.answer = null;
    },
  ],
  [
    'I2',
    'a request that was not accepted has an effect',
    ({ rows }) => rows.events.push(eventRow('never', {}, 9)),
    told({ request: 'never', path: 'events', body: event('never', {}), from: 14, until: null }),
  ],
  [
    'I2',
    'one request was taken twice',
    (facts) => {
      for (const one of tries(facts, 'lost'))
        one.answer = { ...answer(facts, 'lost'), replayed: false, at: T0 };
    },
  ],
  [
    'I2',
    'one request has two different answers',
    (facts) =>
      (first(tries(facts, 'lost')).answer = { at: T0, status: 202, body: '{"data":{}}', replayed: false }),
  ],
  ['I2', 'the key of an acknowledged request was not kept', ({ rows }) => rows.once.shift()],
  ['I2', 'another answer is kept than was given', ({ rows }) => (first(rows.once).status = 200)],
  [
    'I2',
    'a sound request was refused for good',
    (facts) => Object.assign(answer(facts, 'event'), { status: 422, body: '{}' }),
  ],
  [
    'I3',
    'the key of another request was taken again',
    (facts) => Object.assign(answer(facts, 'clash'), { status: 202, body: '{"data":{"accepted":true}}' }),
  ],
  [
    'I3',
    'another refusal than idempotency_key_reuse',
    (facts) => Object.assign(answer(facts, 'clash'), { status: 409 }),
  ],
  [
    'I3',
    'a body that came with the key of another has an effect',
    ({ rows }) => rows.events.push(eventRow('clash', {}, 9)),
  ],
  [
    'I4',
    'accepted and rejected are not what was sent',
    (facts) => (first(facts.requests.filter(({ request }) => request === 'bulk')).records = 3),
  ],
  ['I4', 'an answer does not say that it was accepted', (facts) => (answer(facts, 'event').body = '{}')],
  ['I4', 'as many records as were accepted were not counted', ({ rows }) => (first(rows.queues).nextSeq = 8)],
  ['I10', 'a full queue took more', () => {}, [...held(50_000), ...bulk('over', 110, 111)]],
  [
    'I10',
    'a full queue took more',
    () => {},
    [...held(49_999), ...bulk('one', 110, 115), ...bulk('two', 111, 114)],
  ],
  ['I10', 'a queue said that it is full, and was not', () => {}, [...held(49_999), ...full('early', 110)]],
  ['I10', 'a queue said that it is full, and was not', () => {}, full('early', 110)],
  [
    'I11',
    'a revoked key opened something',
    (facts) => Object.assign(answer(facts, 'too late'), { status: 422 }),
  ],
  [
    'I11',
    'what came with a revoked key has an effect',
    ({ rows }) => rows.events.push(eventRow('late', {}, 9)),
  ],
  ['I11', 'a live key was refused', (facts) => Object.assign(answer(facts, 'event'), { status: 401 })],
  [
    'I11',
    'a key whose revocation was acknowledged is live',
    ({ rows }) => rows.keys.forEach((key) => (key.revokedAt = null)),
  ],
  ['I12', 'a key opens another project', ({ rows }) => (first(rows.keys).project = '2')],
  [
    'I12',
    'an event was never sent to this project',
    ({ rows }) => rows.events.push({ ...eventRow('login', { n: 1 }, 9), project: '2' }),
  ],
  [
    'I12',
    'a user was never sent to this project',
    ({ rows }) => rows.people.push({ ...first(rows.people), project: '2', user: 'u9' }),
  ],
  [
    'I12',
    'a trait was never sent to this project',
    ({ rows }) => Object.assign(first(rows.people).traits, { city: 'Ulm' }),
  ],
];

const email = ({ emails }: Facts): Facts['emails'][number] => first(emails);
const draft = ({ rows }: Facts): Facts['rows']['drafts'][number] => first(rows.drafts);
const message = ({ rows }: Facts): Facts['rows']['messages'][number] => first(rows.messages);
/** As if the draft had never been approved. */
const untouched = (facts: Facts): void => {
  facts.acts = facts.acts.filter((one) => one.act !== 'approve');
  facts.rows.moves = [
    move(1, 'schedule', [null, 'scheduled', 15]),
    move(2, 'claim', ['scheduled', 'sending', 42]),
    move(3, 'sent', ['sending', 'sent', 46]),
  ];
  draft(facts).moves = 3;
};

const OF_EMAILS: Case[] = [
  ['I5', 'an email arrived twice', (facts) => facts.emails.push({ ...email(facts), answered: null })],
  [
    'I5',
    'an email has different bytes when it is retried',
    (facts) => facts.emails.push({ ...email(facts), digest: 'other', answered: 451 }),
  ],
  [
    'I5',
    'an email has no row in the database',
    (facts) => (email(facts).messageId = `${MESSAGE.replace('e1', 'e2')}@x`),
  ],
  ['I5', 'an email is recorded as sent, but never arrived', (facts) => (facts.emails = [])],
  ['I5', 'an email is recorded as failed, but arrived', (facts) => (message(facts).state = 'failed')],
  [
    'I5',
    'an email arrived, but is scheduled to be sent again',
    (facts) => (message(facts).state = 'deferred'),
  ],
  ['I5', 'an email was sent before its attempt was recorded', (facts) => (message(facts).attempts = 0)],
  ['I5', 'an email has no draft', ({ rows }) => (rows.drafts = [])],
  ['I5', 'a draft is held, and does not say why', (facts) => (draft(facts).state = 'held')],
  [
    'I5',
    'a draft is due and stays',
    (facts) => Object.assign(draft(facts), { state: 'scheduled', dueAt: QUIET_AT - 5 * MINUTE }),
  ],
  ['I5', 'an approved draft is never looked at again', (facts) => (draft(facts).state = 'approved')],
  ['I6', 'an email was sent before its deadline', untouched],
  [
    'I6',
    'an email was sent without the approval that it requires',
    (facts) => {
      untouched(facts);
      draft(facts).deadlineAt = null;
    },
  ],
  [
    'I6',
    'an email was sent while its approval could be undone',
    (facts) => (draft(facts).notBefore = T0 + 50 * SECOND),
  ],
  [
    'I6',
    'an email was sent during quiet hours',
    ({ world }) => (first(world.projects).quietHours = '11:00-13:00'),
  ],
  ['I6', 'an email was sent to a suppressed user or address', () => {}, [act('suppress', 'U1@p1.test')]],
  [
    'I6',
    'an email was sent to a suppressed user or address',
    ({ rows }) =>
      rows.suppressions.push({ project: '1', kind: 'user', value: 'u1', until: null, createdAt: T0 }),
  ],
  ['I6', 'an email was sent while its project was paused', () => {}, [act('pause', '1')]],
  ['I6', 'an email was sent from an unverified domain', () => {}, [act('unverify_domain', 'mail.p1.test')]],
  ['I6', 'an email was sent for a draft that is skipped', (facts) => (draft(facts).state = 'skipped')],
  [
    'I6',
    'what was skipped goes on',
    ({ rows }) => rows.moves.push({ ...move(5, 'skip', ['sent', 'skipped', 50]), actor: 'operator' }),
    [act('skip', DRAFT)],
  ],
  ['I12', 'an email went to another address', (facts) => (email(facts).to = ['u1@p2.test'])],
  ['I12', 'an email and its draft have different users', (facts) => (draft(facts).user = 'u2')],
  ['I9', 'a move of a draft is missing', ({ rows }) => rows.moves.pop()],
  ['I9', 'the moves of a draft are not counted from one', ({ rows }) => rows.moves.splice(1, 1)],
  ['I9', 'a move does not begin where the one before ended', ({ rows }) => (first(rows.moves).to = 'held')],
  ['I9', 'a move that nothing leads to', ({ rows }) => (first(rows.moves).action = 'claim')],
  ['I9', 'a draft is failed, and its last move led elsewhere', (facts) => (draft(facts).state = 'failed')],
  ['I9', 'moves of a draft that is not there', ({ rows }) => (rows.drafts = [])],
  ['I9', 'a message and its draft say different things', (facts) => (message(facts).state = 'unknown')],
  [
    'I9',
    'a draft left that was never claimed',
    ({ rows }) => (rows.moves = rows.moves.filter(({ action }) => action !== 'claim')),
  ],
  [
    'I9',
    'a draft was moved by somebody who did not',
    (facts) => (facts.acts = facts.acts.filter((one) => one.act !== 'approve')),
  ],
  [
    'I9',
    'what somebody did to a draft is not among its moves',
    ({ rows }) => rows.moves.forEach((one) => (one.actor = 'engine')),
  ],
  [
    'I9',
    'an audit entry without its end, of something that was answered',
    ({ rows }) =>
      rows.audits.push({
        project: '1',
        at: T0 + MINUTE,
        action: 'draft.approve',
        subject: DRAFT,
        isDone: false,
      }),
  ],
];

const hook = ({ hooks }: Facts): Facts['hooks'][number] => first(hooks);
const delivery = ({ rows }: Facts): Facts['rows']['deliveries'][number] => first(rows.deliveries);
const attempt = ({ rows }: Facts): Facts['rows']['attempts'][number] => first(rows.attempts);

const OF_WEBHOOKS: Case[] = [
  ['I7', 'an outcome does not have one webhook', ({ rows }) => (rows.webhooks = [])],
  [
    'I7',
    'an outcome does not have one webhook',
    ({ rows }) => rows.webhooks.push({ ...first(rows.webhooks), id: 'another' }),
  ],
  ['I7', 'a webhook without its outcome', ({ rows }) => (rows.outcomes = [])],
  ['I7', 'an endpoint is not told what it wants', ({ rows }) => (rows.deliveries = [])],
  [
    'I7',
    'a delivery is recorded as delivered, but no endpoint accepted it',
    (facts) => (hook(facts).answered = 302),
  ],
  ['I7', 'a delivery is not what its attempts say', (facts) => (attempt(facts).status = 500)],
  ['I7', 'a delivery was given up before its last try', (facts) => (delivery(facts).state = 'exhausted')],
  [
    'I7',
    'a delivery is missed, and its endpoint is not disabled',
    (facts) => (delivery(facts).state = 'missed'),
  ],
  [
    'I7',
    'a delivery is due and stays',
    (facts) => Object.assign(delivery(facts), { state: 'pending', nextAt: T0 }),
  ],
  [
    'I7',
    'a delivery is put off for longer than any schedule',
    (facts) => Object.assign(delivery(facts), { state: 'pending', nextAt: QUIET_AT + 100 * 3_600_000 }),
  ],
  ['I7', 'a POST under an id that no webhook has', (facts) => (hook(facts).webhookId = 'msg_new')],
  ['I8', 'a POST does not verify', (facts) => (hook(facts).verified = false)],
  ['I8', 'a POST is not of its time', (facts) => (hook(facts).at += MINUTE)],
  ['I8', 'a POST has other bytes than its webhook', (facts) => (hook(facts).body = '{}')],
  ['I8', 'a POST came before its attempt was written down', (facts) => (attempt(facts).startedAt = QUIET_AT)],
  ['I8', 'attempts are missing in the log', (facts) => (delivery(facts).attempts = 2)],
  [
    'I8',
    'there were more POSTs than attempts in the log',
    (facts) => facts.hooks.push({ ...hook(facts), signature: 't=2,v1=2' }),
  ],
  ['I12', 'an endpoint is told of another project', ({ rows }) => (first(rows.webhooks).project = '2')],
  [
    'I13',
    'an email is still claimed',
    ({ rows }) => rows.broken.push({ invariant: 'I13', what: 'an email is still claimed', row: OUTCOME }),
  ],
];

test.each([...OF_REQUESTS, ...OF_EMAILS, ...OF_WEBHOOKS])(
  '%s: %s',
  (invariant, what, ...[spoil, more = []]) => {
    const facts = madeUp(more);
    spoil(facts);
    const found = judgeFacts(facts).violations.map((one) => `${one.invariant}: ${one.what}`);
    expect(found).toContain(`${invariant}: ${what}`);
  },
);

test('accepts either outcome of a request without a response', () => {
  const never = told({ request: 'never', path: 'events', body: event('never', {}), from: 14, until: null });
  expect(judgeFacts(madeUp(never)).violations).toEqual([]);
});

test('accepts either order of two concurrent requests', () => {
  const users = (plan: string, from: number, until: number): Entry[] =>
    told({ request: plan, path: 'users', body: { external_user_id: 'u1', traits: { plan } }, from, until });
  for (const last of ['a', 'b']) {
    const facts = madeUp([...users('a', 15, 18), ...users('b', 16, 17)]);
    Object.assign(first(facts.rows.people).traits, { plan: last });
    const { violations } = judgeFacts(facts);
    expect(violations.map(({ what }) => what)).not.toContain('a trait is not what was said of it last');
  }
});

test('accepts any one of several copies under one id', () => {
  const copies = [1, 2].flatMap((n) =>
    told({
      request: `copy ${n}`,
      path: 'events',
      body: event('copied', { n }, 'same'),
      from: 14 + 2 * n,
      until: 15 + 2 * n,
    }),
  );
  for (const [stored, isFine] of [
    [[1], true],
    [[2], true],
    [[1, 2], false],
    [[], false],
  ] as const) {
    const facts = madeUp(copies);
    facts.rows.events.push(...stored.map((n) => eventRow('copied', { n }, 6)));
    const found = judgeFacts(facts).violations.filter(({ evidence }) => evidence.join().includes('copied'));
    expect(found.length === 0).toBe(isFine);
  }
});

test('accepts the arrival of an email that was in flight when its recipient was suppressed', () => {
  const facts = madeUp([act('suppress', 'u1@p1.test', 44)]);
  expect(judgeFacts(facts).violations).toEqual([]);
});

test('accepts either response for a key during its revocation', () => {
  for (const status of [202, 401]) {
    const facts = madeUp();
    const entry = facts.acts.find((one) => one.subject === KEYS.spare);
    Object.assign(entry ?? {}, { at: T0 + 21.5 * SECOND, done: T0 + 24 * SECOND });
    Object.assign(answer(facts, 'too late'), { status });
    const found = judgeFacts(facts).violations.filter(({ what }) => /revoked key opened|live key/.test(what));
    expect(found).toEqual([]);
  }
});

test.each([
  ['failed', true],
  ['deferred', false],
])('ends a deferred email with its canceled draft: %s', (state, isFine) => {
  const facts = madeUp();
  draft(facts).state = 'canceled';
  message(facts).state = state;
  const said = judgeFacts(facts).violations.map(({ what }) => what);
  expect(said.includes('a message and its draft say different things')).toBe(!isFine);
});
