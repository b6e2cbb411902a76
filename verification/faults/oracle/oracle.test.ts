import { expect, test } from 'vitest';
import type { Entry } from '../journal.ts';
import type { Facts } from './facts.ts';
import { checkFacts } from './index.ts';
import {
  DRAFT,
  event,
  eventRow,
  KEYS,
  sampleFacts,
  EMAIL,
  MINUTE,
  move,
  OUTCOME,
  QUIET_AT,
  SECOND,
  T0,
  requestEntries,
} from './sample-facts.ts';

type Case = [invariant: string, problem: string, damage: (facts: Facts) => void, more?: Entry[]];

const first = <T>(list: T[]): T => {
  const [item] = list;
  if (item === undefined) throw new Error('the list is empty');
  return item;
};
const attempts = (facts: Facts, request: string): Facts['requests'][number]['attempts'] =>
  facts.requests.find((candidate) => candidate.request === request)?.attempts ?? [];
const answer = (facts: Facts, request: string): { status: number; body: string; replayed: boolean } => {
  const found = attempts(facts, request).findLast((requestAttempt) => requestAttempt.answer !== null)?.answer;
  if (!found) throw new Error(`${request} was not answered`);
  return found;
};
const actionEntry = (
  name: 'suppress' | 'pause' | 'unverify_domain' | 'skip' | 'approve',
  subject: string,
  at = 35,
): Entry => ({
  kind: 'action',
  at: T0 + at * SECOND,
  endedAt: T0 + at * SECOND,
  action: name,
  project: '1',
  subject,
  status: 200,
});
const bulkEntries = (request: string, from: number, until: number): Entry[] =>
  requestEntries({
    request,
    path: 'users/bulk',
    body: { users: [{ external_user_id: 'u1' }] },
    from,
    until,
    status: 200,
    answer: { data: { accepted: 1, rejected: 0, errors: [] }, meta: { received: 1 } },
  });
const heldEntries = (waiting: number): Entry[] => [
  { kind: 'held', at: T0 + 100 * SECOND, project: '1', waiting },
  { kind: 'released', at: T0 + 200 * SECOND, project: '1' },
];
const fullQueueEntries = (request: string, from: number): Entry[] =>
  requestEntries({
    request,
    path: 'users/bulk',
    body: { users: [{ external_user_id: 'u1' }] },
    from,
    until: from + 1,
    status: 429,
    answer: { errors: [{ code: 'backfill_queue_full' }] },
  });

test('finds no violations in a correct history', () => {
  expect(checkFacts(sampleFacts()).violations).toEqual([]);
});

test('accepts a queue_full response at the moment when processing resumes', () => {
  expect(
    checkFacts(sampleFacts([...heldEntries(50_000), ...fullQueueEntries('last', 199)])).violations,
  ).toEqual([]);
});

const OF_REQUESTS: Case[] = [
  ['I1', 'an acknowledged event is missing', ({ rows }) => rows.events.shift()],
  [
    'I1',
    'an event is stored more often than it was accepted',
    ({ rows }) => rows.events.push(eventRow('login', { n: 1 }, 9)),
  ],
  [
    'I1',
    'the suppression of an event does not match the request',
    ({ rows }) => (first(rows.events).suppressed = true),
  ],
  [
    'I1',
    'a request precedes one that was answered before it began',
    ({ rows }) => (first(rows.events).seq = 7),
  ],
  ['I1', 'an acknowledged user is missing', ({ rows }) => rows.people.shift()],
  [
    'I1',
    'a trait does not have its latest value',
    ({ rows }) => (first(rows.people).traits = { plan: 'free', seats: 3 }),
  ],
  ['I1', 'a trait does not have its latest value', ({ rows }) => (first(rows.people).email = null)],
  [
    'I1',
    'a watermark contradicts the order of acceptance',
    ({ rows }) => (first(rows.people).suppressedSeq = 2),
  ],
  [
    'I2',
    'a request whose key is stored is incomplete',
    ({ rows, requests }) => {
      rows.events = rows.events.filter(({ seq }) => seq !== 4);
      for (const requestAttempt of attempts({ requests } as Facts, 'lost')) requestAttempt.answer = null;
    },
  ],
  [
    'I2',
    'a request that was not accepted has an effect',
    ({ rows }) => rows.events.push(eventRow('never', {}, 9)),
    requestEntries({ request: 'never', path: 'events', body: event('never', {}), from: 14, until: null }),
  ],
  [
    'I2',
    'one request was accepted twice',
    (facts) => {
      for (const requestAttempt of attempts(facts, 'lost'))
        requestAttempt.answer = { ...answer(facts, 'lost'), replayed: false, at: T0 };
    },
  ],
  [
    'I2',
    'one request has two different responses',
    (facts) =>
      (first(attempts(facts, 'lost')).answer = { at: T0, status: 202, body: '{"data":{}}', replayed: false }),
  ],
  ['I2', 'the key of an acknowledged request was not stored', ({ rows }) => rows.idempotencyKeys.shift()],
  [
    'I2',
    'the stored response differs from the one sent',
    ({ rows }) => (first(rows.idempotencyKeys).status = 200),
  ],
  [
    'I2',
    'a valid request was refused permanently',
    (facts) => Object.assign(answer(facts, 'event'), { status: 422, body: '{}' }),
  ],
  [
    'I3',
    'the key of another request was accepted again',
    (facts) => Object.assign(answer(facts, 'clash'), { status: 202, body: '{"data":{"accepted":true}}' }),
  ],
  [
    'I3',
    'a refusal other than idempotency_key_reuse',
    (facts) => Object.assign(answer(facts, 'clash'), { status: 409 }),
  ],
  [
    'I3',
    'a body sent with the key of another request has an effect',
    ({ rows }) => rows.events.push(eventRow('clash', {}, 9)),
  ],
  [
    'I4',
    'accepted and rejected do not match the sent records',
    (facts) => (first(facts.requests.filter(({ request }) => request === 'bulk')).records = 3),
  ],
  ['I4', 'a response does not confirm its acceptance', (facts) => (answer(facts, 'event').body = '{}')],
  ['I4', 'the queue did not count all accepted records', ({ rows }) => (first(rows.queues).nextSeq = 8)],
  [
    'I10',
    'a full queue accepted more records',
    () => {},
    [...heldEntries(50_000), ...bulkEntries('over', 110, 111)],
  ],
  [
    'I10',
    'a full queue accepted more records',
    () => {},
    [...heldEntries(49_999), ...bulkEntries('one', 110, 115), ...bulkEntries('two', 111, 114)],
  ],
  [
    'I10',
    'a queue with space refused records as full',
    () => {},
    [...heldEntries(49_999), ...fullQueueEntries('early', 110)],
  ],
  ['I10', 'a queue with space refused records as full', () => {}, fullQueueEntries('early', 110)],
  ['I11', 'a revoked key was accepted', (facts) => Object.assign(answer(facts, 'too late'), { status: 422 })],
  [
    'I11',
    'a request with a revoked key has an effect',
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

const receivedEmail = ({ receivedEmails }: Facts): Facts['receivedEmails'][number] => first(receivedEmails);
const draft = ({ rows }: Facts): Facts['rows']['drafts'][number] => first(rows.drafts);
const email = ({ rows }: Facts): Facts['rows']['emails'][number] => first(rows.emails);
/** As if the draft had never been approved. */
const untouched = (facts: Facts): void => {
  facts.actions = facts.actions.filter((action) => action.action !== 'approve');
  facts.rows.moves = [
    move(1, 'schedule', [null, 'scheduled', 15]),
    move(2, 'claim', ['scheduled', 'sending', 42]),
    move(3, 'sent', ['sending', 'sent', 46]),
  ];
  draft(facts).moves = 3;
};

const OF_EMAILS: Case[] = [
  [
    'I5',
    'an email arrived twice',
    (facts) => facts.receivedEmails.push({ ...receivedEmail(facts), replyStatus: null }),
  ],
  [
    'I5',
    'an email has different bytes when it is retried',
    (facts) => facts.receivedEmails.push({ ...receivedEmail(facts), digest: 'other', replyStatus: 451 }),
  ],
  [
    'I5',
    'an email has no row in the database',
    (facts) => (receivedEmail(facts).messageId = `${EMAIL.replace('e1', 'e2')}@x`),
  ],
  ['I5', 'an email is recorded as sent, but never arrived', (facts) => (facts.receivedEmails = [])],
  ['I5', 'an email is recorded as failed, but arrived', (facts) => (email(facts).state = 'failed')],
  ['I5', 'an email arrived, but is scheduled to be sent again', (facts) => (email(facts).state = 'deferred')],
  ['I5', 'an email was sent before its attempt was recorded', (facts) => (email(facts).attempts = 0)],
  ['I5', 'an email has no draft', ({ rows }) => (rows.drafts = [])],
  ['I5', 'a held draft has no reason', (facts) => (draft(facts).state = 'held')],
  [
    'I5',
    'a due draft was not processed',
    (facts) => Object.assign(draft(facts), { state: 'scheduled', dueAt: QUIET_AT - 5 * MINUTE }),
  ],
  ['I5', 'an approved draft has no due time', (facts) => (draft(facts).state = 'approved')],
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
  [
    'I6',
    'an email was sent to a suppressed user or address',
    () => {},
    [actionEntry('suppress', 'U1@p1.test')],
  ],
  [
    'I6',
    'an email was sent to a suppressed user or address',
    ({ rows }) =>
      rows.suppressions.push({ project: '1', kind: 'user', value: 'u1', until: null, createdAt: T0 }),
  ],
  ['I6', 'an email was sent while its project was paused', () => {}, [actionEntry('pause', '1')]],
  [
    'I6',
    'an email was sent from an unverified domain',
    () => {},
    [actionEntry('unverify_domain', 'mail.p1.test')],
  ],
  ['I6', 'an email was sent for a draft that is skipped', (facts) => (draft(facts).state = 'skipped')],
  [
    'I6',
    'a skipped draft was continued',
    ({ rows }) => rows.moves.push({ ...move(5, 'skip', ['sent', 'skipped', 50]), actor: 'operator' }),
    [actionEntry('skip', DRAFT)],
  ],
  ['I12', 'an email went to another address', (facts) => (receivedEmail(facts).to = ['u1@p2.test'])],
  ['I12', 'an email and its draft have different users', (facts) => (draft(facts).user = 'u2')],
  ['I9', 'a move of a draft is missing', ({ rows }) => rows.moves.pop()],
  ['I9', 'the moves of a draft are not numbered from 1', ({ rows }) => rows.moves.splice(1, 1)],
  [
    'I9',
    'a move does not start in the state that the previous move ended in',
    ({ rows }) => (first(rows.moves).to = 'held'),
  ],
  ['I9', 'a move that the state table forbids', ({ rows }) => (first(rows.moves).action = 'claim')],
  [
    'I9',
    'a draft is failed, but its last move ended in another state',
    (facts) => (draft(facts).state = 'failed'),
  ],
  ['I9', 'moves of a missing draft', ({ rows }) => (rows.drafts = [])],
  ['I9', 'an email and its draft have contradicting states', (facts) => (email(facts).state = 'unknown')],
  [
    'I9',
    'a draft was submitted without a claim',
    ({ rows }) => (rows.moves = rows.moves.filter(({ action }) => action !== 'claim')),
  ],
  [
    'I9',
    'a move has no matching action of a member',
    (facts) => (facts.actions = facts.actions.filter((action) => action.action !== 'approve')),
  ],
  [
    'I9',
    'the action of a member is not among the moves of the draft',
    ({ rows }) => rows.moves.forEach((row) => (row.actor = 'engine')),
  ],
  [
    'I9',
    'an audit entry of an answered action is not completed',
    ({ rows }) =>
      rows.audits.push({
        project: '1',
        at: T0 + MINUTE,
        action: 'draft.approve',
        subject: DRAFT,
        isCompleted: false,
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
  ['I7', 'a subscribed endpoint has no delivery', ({ rows }) => (rows.deliveries = [])],
  [
    'I7',
    'a delivery is recorded as delivered, but no endpoint accepted it',
    (facts) => (hook(facts).replyStatus = 302),
  ],
  ['I7', 'a delivery contradicts its attempts', (facts) => (attempt(facts).status = 500)],
  ['I7', 'a delivery was exhausted before its last try', (facts) => (delivery(facts).state = 'exhausted')],
  [
    'I7',
    'a delivery is missed, but its endpoint is not disabled',
    (facts) => (delivery(facts).state = 'missed'),
  ],
  [
    'I7',
    'a due delivery was not attempted',
    (facts) => Object.assign(delivery(facts), { state: 'pending', nextAt: T0 }),
  ],
  [
    'I7',
    'a delivery is delayed longer than any schedule allows',
    (facts) => Object.assign(delivery(facts), { state: 'pending', nextAt: QUIET_AT + 100 * 3_600_000 }),
  ],
  ['I7', 'a POST has an unknown webhook id', (facts) => (hook(facts).webhookId = 'msg_new')],
  ['I8', 'a POST has an invalid signature', (facts) => (hook(facts).verified = false)],
  ['I8', 'a POST has a wrong timestamp', (facts) => (hook(facts).at += MINUTE)],
  ['I8', 'a POST differs from its webhook', (facts) => (hook(facts).body = '{}')],
  ['I8', 'a POST arrived before its attempt was recorded', (facts) => (attempt(facts).startedAt = QUIET_AT)],
  ['I8', 'attempts are missing in the log', (facts) => (delivery(facts).attempts = 2)],
  [
    'I8',
    'more POSTs than recorded attempts',
    (facts) => facts.hooks.push({ ...hook(facts), signature: 't=2,v1=2' }),
  ],
  ['I12', 'an endpoint got a webhook of another project', ({ rows }) => (first(rows.webhooks).project = '2')],
  [
    'I13',
    'an email is still claimed',
    ({ rows }) =>
      rows.violations.push({ invariant: 'I13', problem: 'an email is still claimed', row: OUTCOME }),
  ],
];

test.each([...OF_REQUESTS, ...OF_EMAILS, ...OF_WEBHOOKS])(
  '%s: %s',
  (invariant, problem, ...[damage, more = []]) => {
    const facts = sampleFacts(more);
    damage(facts);
    const found = checkFacts(facts).violations.map(
      (violation) => `${violation.invariant}: ${violation.problem}`,
    );
    expect(found).toContain(`${invariant}: ${problem}`);
  },
);

test('accepts either outcome of a request without a response', () => {
  const never = requestEntries({
    request: 'never',
    path: 'events',
    body: event('never', {}),
    from: 14,
    until: null,
  });
  expect(checkFacts(sampleFacts(never)).violations).toEqual([]);
});

test('accepts either order of two concurrent requests', () => {
  const users = (plan: string, from: number, until: number): Entry[] =>
    requestEntries({
      request: plan,
      path: 'users',
      body: { external_user_id: 'u1', traits: { plan } },
      from,
      until,
    });
  for (const last of ['a', 'b']) {
    const facts = sampleFacts([...users('a', 15, 18), ...users('b', 16, 17)]);
    Object.assign(first(facts.rows.people).traits, { plan: last });
    const { violations } = checkFacts(facts);
    expect(violations.map(({ problem }) => problem)).not.toContain('a trait does not have its latest value');
  }
});

test('accepts any one of several copies under one id', () => {
  const copies = [1, 2].flatMap((n) =>
    requestEntries({
      request: `copy ${n}`,
      path: 'events',
      body: event('copied', { n }, 'same'),
      from: 14 + 2 * n,
      until: 15 + 2 * n,
    }),
  );
  for (const [stored, isAccepted] of [
    [[1], true],
    [[2], true],
    [[1, 2], false],
    [[], false],
  ] as const) {
    const facts = sampleFacts(copies);
    facts.rows.events.push(...stored.map((n) => eventRow('copied', { n }, 6)));
    const found = checkFacts(facts).violations.filter(({ evidence }) => evidence.join().includes('copied'));
    expect(found.length === 0).toBe(isAccepted);
  }
});

test('accepts the arrival of an email that was in flight when its recipient was suppressed', () => {
  const facts = sampleFacts([actionEntry('suppress', 'u1@p1.test', 44)]);
  expect(checkFacts(facts).violations).toEqual([]);
});

test('accepts either response for a key during its revocation', () => {
  for (const status of [202, 401]) {
    const facts = sampleFacts();
    const entry = facts.actions.find((action) => action.subject === KEYS.spare);
    Object.assign(entry ?? {}, { at: T0 + 21.5 * SECOND, endedAt: T0 + 24 * SECOND });
    Object.assign(answer(facts, 'too late'), { status });
    const found = checkFacts(facts).violations.filter(({ problem }) =>
      /revoked key was accepted|live key/.test(problem),
    );
    expect(found).toEqual([]);
  }
});

test.each([
  ['failed', true],
  ['deferred', false],
])('ends a deferred email with its canceled draft: %s', (state, isAccepted) => {
  const facts = sampleFacts();
  draft(facts).state = 'canceled';
  email(facts).state = state;
  const problems = checkFacts(facts).violations.map(({ problem }) => problem);
  expect(problems.includes('an email and its draft have contradicting states')).toBe(!isAccepted);
});
