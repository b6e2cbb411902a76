import { readIdempotencyKey } from '../../../packages/server/src/modules/ingest/idempotency/key.ts';
import type { Entry, World } from '../journal.ts';
import { type EventRow, type Facts, NO_ROWS, type Rows } from './facts.ts';
import { historyOf } from './read-journals.ts';
import { identityOf } from './request-results.ts';

/** An invented history, small enough to read, without violations. */
export const T0 = Date.UTC(2026, 0, 1, 12);
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const QUIET_AT = T0 + 10 * MINUTE;

export const DRAFT = '00000000-0000-7000-8000-0000000000d1';
export const EMAIL = '00000000-0000-7000-8000-0000000000e1';
export const OUTCOME = '00000000-0000-7000-8000-0000000000f1';
const ENDPOINT = '00000000-0000-7000-8000-0000000000a1';
export const KEYS = { first: 'key-of-1', spare: 'spare-of-1', second: 'key-of-2' };

const WORLD: World = {
  seed: 1,
  startedAt: T0,
  databaseUrl: '',
  projects: ['1', '2'].map((id) => ({
    id,
    name: `project ${id}`,
    keys: id === '1' ? [key(KEYS.first), key(KEYS.spare)] : [key(KEYS.second)],
    quietHours: '21:00-08:00',
    timeZone: 'UTC',
    kind: 'fast',
    domain: `mail.p${id}.test`,
  })),
  endpoints: [{ id: ENDPOINT, project: '1', path: '/1-good', secret: 'whsec_', isGood: true }],
  relays: {},
};

function key(id: string): { id: string; secret: string } {
  return { id, secret: `secret of ${id}` };
}

export type RequestSample = {
  request: string;
  project?: string;
  path: string;
  body: object;
  records?: number;
  key?: string;
  idempotencyKey?: string;
  intent?: 'normal' | 'retry' | 'clash' | 'revoked';
  /** When it began, in seconds. `until` is when it was answered, or null if never. */
  from: number;
  until: number | null;
  status?: number;
  answer?: object;
  replayed?: boolean;
};

/** Returns the journal entries of one attempt of a request. */
export function requestEntries(sample: RequestSample): Entry[] {
  const { request, project = '1', path, body, records = 1, intent = 'normal', from, until } = sample;
  const id = `${request} at ${from}`;
  const entries: Entry[] = [
    {
      kind: 'begin',
      at: T0 + from * SECOND,
      id,
      request,
      project,
      key: sample.key ?? (project === '1' ? KEYS.first : KEYS.second),
      to: 'http://127.0.0.1:1',
      path: `/api/v1/${path}`,
      idempotencyKey: sample.idempotencyKey ?? `key of ${request}`.replaceAll(' ', '-'),
      body: JSON.stringify(body),
      records,
      intent,
    },
  ];
  const { status = 202, answer = { data: { accepted: true } }, replayed = false } = sample;
  if (until !== null)
    entries.push({
      kind: 'end',
      at: T0 + until * SECOND,
      id,
      status,
      body: JSON.stringify(answer),
      replayed,
    });
  return entries;
}

const TRAITS = { plan: 'pro', seats: 3 };
const BODY = '{"id":"msg_sample"}';

const ENTRIES: Entry[] = [
  ...requestEntries({
    request: 'users',
    path: 'users',
    body: user({ plan: 'free', seats: 1 }),
    from: 1,
    until: 2,
  }),
  ...requestEntries({ request: 'users again', path: 'users', body: user(TRAITS), from: 3, until: 4 }),
  ...requestEntries({
    request: 'event',
    path: 'events',
    body: event('login', { n: 1 }, 'm1'),
    from: 5,
    until: 6,
  }),
  // Its first attempt was accepted, but the response was lost.
  ...requestEntries({
    request: 'lost',
    path: 'events',
    body: event('login', { n: 2 }, 'm2'),
    from: 7,
    until: null,
  }),
  ...requestEntries({
    request: 'lost',
    path: 'events',
    body: event('login', { n: 2 }, 'm2'),
    from: 8,
    until: 9,
    intent: 'retry',
    replayed: true,
  }),
  ...requestEntries({
    request: 'bulk',
    path: 'events/bulk',
    body: { events: [event('export', { n: 3 }), { external_user_id: '' }] },
    records: 2,
    from: 10,
    until: 11,
    status: 200,
    answer: {
      data: { accepted: 1, rejected: 1, errors: [{ index: 1, code: 'validation' }] },
      meta: { received: 2 },
    },
  }),
  ...requestEntries({
    request: 'clash',
    path: 'events',
    body: event('clash', {}),
    idempotencyKey: 'key-of-event',
    intent: 'clash',
    from: 12,
    until: 13,
    status: 422,
    answer: { errors: [{ code: 'idempotency_key_reuse' }] },
  }),
  ...requestEntries({
    request: 'other',
    project: '2',
    path: 'users',
    body: user({ plan: 'team' }),
    from: 1,
    until: 2,
  }),
  {
    kind: 'action',
    at: T0 + 20 * SECOND,
    endedAt: T0 + 21 * SECOND,
    action: 'revoke_key',
    project: '1',
    subject: KEYS.spare,
    status: 200,
  },
  ...requestEntries({
    request: 'too late',
    path: 'events',
    body: event('late', {}),
    key: KEYS.spare,
    intent: 'revoked',
    from: 22,
    until: 23,
    status: 401,
    answer: { errors: [{ code: 'auth_required' }] },
  }),
  {
    kind: 'action',
    at: T0 + 30 * SECOND,
    endedAt: T0 + 31 * SECOND,
    action: 'approve',
    project: '1',
    subject: DRAFT,
    status: 200,
  },
  {
    kind: 'email',
    at: T0 + 45 * SECOND,
    messageId: `${EMAIL}@mail.p1.test`,
    from: 'b+token@mail.p1.test',
    to: ['u1@p1.test'],
    digest: 'digest of the email',
    replyStatus: 250,
  },
  {
    kind: 'hook',
    at: T0 + 60 * SECOND,
    endpoint: '/1-good',
    webhookId: `msg_${OUTCOME}`,
    timestamp: String(T0 / SECOND + 60),
    signature: 't=1,v1=1',
    body: BODY,
    verified: true,
    replyStatus: 204,
  },
  { kind: 'quiet', at: QUIET_AT },
];

function user(traits: object): object {
  return { external_user_id: 'u1', email: 'u1@p1.test', traits };
}

export function event(name: string, properties: object, messageId?: string): Record<string, unknown> {
  return {
    external_user_id: 'u1',
    name,
    properties,
    ...(messageId === undefined ? {} : { message_id: messageId }),
  };
}

export function eventRow(name: string, properties: object, seq: number): EventRow {
  const identity = identityOf('u1', name, properties);
  return { project: '1', user: 'u1', name, identity, seq, acceptedAt: T0, suppressed: false };
}

const ROWS: Rows = {
  ...NO_ROWS,
  idempotencyKeys: [
    ...['users', 'users again', 'event', 'lost'].map((request) => idempotencyRow('1', request)),
    { ...idempotencyRow('1', 'bulk'), status: 200, body: bodyOf('bulk') },
    idempotencyRow('2', 'other'),
  ],
  events: [
    eventRow('login', { n: 1 }, 3),
    eventRow('login', { n: 2 }, 4),
    eventRow('export', { n: 3 }, 5),
    { ...eventRow('email.opened', {}, 6), identity: null, suppressed: null },
  ],
  people: [
    { project: '1', user: 'u1', traits: TRAITS, email: 'u1@p1.test', suppressedSeq: null, normalSeq: null },
    {
      project: '2',
      user: 'u1',
      traits: { plan: 'team' },
      email: 'u1@p1.test',
      suppressedSeq: null,
      normalSeq: null,
    },
  ],
  queues: [
    { project: '1', nextSeq: 7, waiting: 0 },
    { project: '2', nextSeq: 2, waiting: 0 },
  ],
  keys: [
    { project: '1', id: KEYS.first, revokedAt: null },
    { project: '1', id: KEYS.spare, revokedAt: T0 + 20 * SECOND },
    { project: '2', id: KEYS.second, revokedAt: null },
  ],
  drafts: [
    {
      project: '1',
      id: DRAFT,
      user: 'u1',
      state: 'sent',
      resumeState: null,
      reason: null,
      deadlineAt: T0 + 10 * MINUTE,
      notBefore: T0 + 40 * SECOND,
      dueAt: null,
      moves: 4,
    },
  ],
  moves: [
    move(1, 'schedule', [null, 'scheduled', 15]),
    { ...move(2, 'approve', ['scheduled', 'approved', 30]), actor: 'operator' },
    move(3, 'claim', ['approved', 'sending', 42]),
    move(4, 'sent', ['sending', 'sent', 46]),
  ],
  emails: [
    {
      project: '1',
      draft: DRAFT,
      id: EMAIL,
      user: 'u1',
      address: 'u1@p1.test',
      state: 'sent',
      reason: null,
      epoch: 1,
      attempts: 1,
      firstAt: T0 + 43 * SECOND,
    },
  ],
  endpoints: [
    {
      project: '1',
      id: ENDPOINT,
      url: 'https://127.0.0.1:1/1-good',
      types: null,
      createdAt: T0,
      disabledAt: null,
      disabledReason: null,
    },
  ],
  outcomes: [
    {
      project: '1',
      id: OUTCOME,
      email: EMAIL,
      type: 'email.opened',
      class: 'no',
      recordedAt: T0 + 58 * SECOND,
    },
  ],
  webhooks: [
    {
      project: '1',
      id: OUTCOME,
      outcome: OUTCOME,
      type: 'email.opened',
      body: BODY,
      createdAt: T0 + 58 * SECOND,
    },
  ],
  deliveries: [
    {
      project: '1',
      webhook: OUTCOME,
      endpoint: ENDPOINT,
      state: 'delivered',
      tries: 1,
      attempts: 1,
      nextAt: null,
    },
  ],
  attempts: [
    {
      project: '1',
      webhook: OUTCOME,
      endpoint: ENDPOINT,
      number: 1,
      startedAt: T0 + 59 * SECOND,
      endedAt: T0 + 61 * SECOND,
      status: 204,
    },
  ],
};

function bodyOf(request: string): string | null {
  const end = ENTRIES.find((entry) => entry.kind === 'end' && entry.id.startsWith(`${request} at`));
  return end?.kind === 'end' ? end.body : null;
}

function idempotencyRow(project: string, request: string): Rows['idempotencyKeys'][number] {
  const key = readIdempotencyKey(`key of ${request}`.replaceAll(' ', '-'))?.digest ?? '';
  return { project, key, status: 202, body: null, acceptedAt: T0 };
}

export function move(
  number: number,
  action: string,
  [from, to, at = 0]: [from: string | null, to: string, seconds?: number],
): Rows['moves'][number] {
  return { project: '1', draft: DRAFT, number, at: T0 + at * SECOND, action, from, to, actor: 'engine' };
}

/** Returns a copy that the test may break. `more` adds journal entries. */
export function sampleFacts(more: Entry[] = []): Facts {
  const world = structuredClone(WORLD);
  return { ...historyOf(world, structuredClone([...ENTRIES, ...more])), rows: structuredClone(ROWS) };
}
