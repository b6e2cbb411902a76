import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { BUSY, type Input, JSON_TYPE, LIVEZ_MAX_MS, MIB } from './input.ts';
import { emailInputs, recipients } from './mail-inputs.ts';
import { templates } from './template-inputs.ts';
import { draftingInputs } from './drafting-inputs.ts';

export function expensiveInputs(): Input[] {
  return [
    ...strangers(),
    ...keyHolders(),
    ...templates(),
    ...draftingInputs(),
    ...queries(),
    ...recipients(),
    ...emailInputs(),
  ];
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

function strangers(): Input[] {
  const long = JSON.stringify({ email: 'ada@example.com', password: 'x'.repeat(MIB - 100) });
  const deep = `{"email":"ada@example.com","password":${nested(500_000)}}`;
  const byStranger = (name: string, path: string, request: { body: string; reaches: number[] }): Input => ({
    name,
    sender: 'stranger',
    livezMaxMs: LIVEZ_MAX_MS,
    expectedStatuses: request.reaches,
    // Sign-in attempts are rate limited.
    mayGet: [429, ...BUSY],
    send: ({ send, victim }) =>
      send({
        requestLine: `POST ${path}`,
        headers: { ...JSON_TYPE, origin: victim.url },
        body: request.body,
      }),
  });
  // Just below the largest body that a route without a session accepts.
  const longest = JSON.stringify({ email: 'ada@example.com', password: 'x'.repeat(16 * 1024 - 60) });
  return [
    byStranger('sign-in with 16 KiB of password', '/api/dashboard/sign-in', {
      body: longest,
      reaches: [422],
    }),
    byStranger('sign-in with 1 MiB of password', '/api/dashboard/sign-in', { body: long, reaches: [413] }),
    byStranger('sign-in with 500,000 brackets', '/api/dashboard/sign-in', { body: deep, reaches: [413] }),
    byStranger('device code with 1 MiB of label', '/api/dashboard/device', {
      body: JSON.stringify({ label: 'x'.repeat(MIB) }),
      reaches: [413],
    }),
    byStranger('relay webhook with 1 MiB of brackets', `/hooks/relays/${randomUUID()}`, {
      body: nested(500_000),
      reaches: [401],
    }),
    byStranger('relay webhook with 2 MiB', `/hooks/relays/${randomUUID()}`, {
      body: 'x'.repeat(2 * MIB),
      reaches: [413],
    }),
    byStranger('reply webhook with 24 MiB and no password', `/hooks/replies/${randomUUID()}`, {
      body: 'x'.repeat(24 * MIB),
      reaches: [401],
    }),
    byStranger('no key and 10 MiB', '/api/v1/users/bulk', { body: 'x'.repeat(10 * MIB), reaches: [401] }),
  ];
}

const STATUSES = {
  events: { accepted: 202, refused: 422 },
  'events/batch': { accepted: 202, refused: 422 },
  'users/bulk': { accepted: 200, refused: 400 },
};

/**
 * Returns inputs for holders of an API key. The valid bodies are just within the limits of values, of scalars in arrays, and of the bytes
 * of a record.
 */
function keyHolders(): Input[] {
  const ofKey = (name: string, endpoint: keyof typeof STATUSES, text: string): Input => {
    const body = gzipSync(text);
    const { accepted, refused } = STATUSES[endpoint];
    // Only names of valid bodies begin like this.
    const isValid = name.startsWith('a valid');
    return {
      name,
      sender: 'API key',
      livezMaxMs: LIVEZ_MAX_MS,
      expectedStatuses: [isValid ? accepted : refused],
      // 429: the ingest queue of the project is full.
      mayGet: isValid ? [429, ...BUSY] : BUSY,
      send: ({ send, secret }) =>
        send({
          requestLine: `POST /api/v1/${endpoint}`,
          headers: {
            ...JSON_TYPE,
            authorization: `Bearer ${secret}`,
            'content-encoding': 'gzip',
            'idempotency-key': randomUUID(),
          },
          body,
        }),
    };
  };
  const user = (n: number, traits: object): object => ({ external_user_id: `cost-${n}`, traits });
  const users = (traits: (n: number) => object): string =>
    JSON.stringify({ users: Array.from({ length: 1_000 }, (_, n) => user(n, traits(n))) });
  const keys = (count: number, value: unknown): object =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, value]));
  return [
    ofKey('4.75 million nested arrays', 'users/bulk', `{"users":${nested(4_750_000)}}`),
    ofKey('3 million empty arrays', 'users/bulk', `{"users":[${'[],'.repeat(3_000_000)}[]]}`),
    ofKey(
      '3 million empty objects in one record',
      'users/bulk',
      `{"users":[{"traits":{"a":[${'{},'.repeat(3_000_000)}{}]}}]}`,
    ),
    ofKey('5 million zeros', 'users/bulk', `{"users":[${'0,'.repeat(5_000_000)}0]}`),
    ofKey(
      'a million keys in one object',
      'users/bulk',
      `{"users":[{"traits":${JSON.stringify(keys(700_000, 1))}}]}`,
    ),
    ofKey('a number of 10 million digits', 'users/bulk', `{"users":[${'9'.repeat(10_000_000)}]}`),
    ofKey('260 kB of brackets in one event', 'events', nested(130_000)),
    ofKey(
      'a valid body of 10 MiB',
      'users/bulk',
      users(() => keys(8, 'x'.repeat(1_200))),
    ),
    ofKey(
      'a valid body of many small values',
      'users/bulk',
      users(() => ({ list: keys(255, [1, 2, 3, 4, 5, 6, 7]) })),
    ),
    ofKey(
      'a valid body of many small lists',
      'users/bulk',
      users(() => keys(50, [[[[[1]]]]])),
    ),
    // A body with a refused record is serialized once more for its fingerprint.
    ofKey(
      'a valid body of many small values and one refused record',
      'users/bulk',
      JSON.stringify({
        users: [
          { external_user_id: 7 },
          ...Array.from({ length: 999 }, (_, n) => user(n, { list: keys(255, [1, 2, 3, 4, 5, 6, 7]) })),
        ],
      }),
    ),
    ofKey(
      'a valid batch of long texts',
      'events/batch',
      JSON.stringify({
        events: Array.from({ length: 100 }, (_, n) => ({
          external_user_id: `cost-${n}`,
          name: 'cost',
          properties: { text: '"\\\u0001'.repeat(6_000) },
        })),
      }),
    ),
  ];
}

/** A hundred conditions that each have to read every event. */
const CONDITIONS = {
  any: Array.from({ length: 100 }, (_, n) => ({
    event: 'feature_used',
    within: `${n + 1}d`,
    where: [{ property: 'amount', at_least: 1_000 + n }],
  })),
};
const FILTERS = [
  '-email:*@example.com',
  '-email:*a* -email:*b* -email:*c* -user:*d* -user:*e*',
  Array.from({ length: 20 }, (_, n) => `-email:*${n}*`).join(' '),
];

/** Each list, and one of the keys that its filter searches. */
const FILTERED_LISTS = {
  users: 'email',
  'users.csv': 'email',
  emails: 'address',
  requests: 'code',
  suppressions: 'email',
  drafts: 'subject',
  stream: 'user',
};

/** A filter with as many and as long terms as it may have. */
function filterOf(key: string): string {
  return Array.from({ length: 20 }, (_, n) => `${key}:*${n}%_${'x'.repeat(33)}*`).join(' ');
}

function queries(): Input[] {
  const byViewer = (name: string, requestLine: (project: string) => string, body?: unknown): Input => ({
    name,
    sender: 'viewer',
    livezMaxMs: LIVEZ_MAX_MS,
    expectedStatuses: [200],
    mayGet: BUSY,
    send: ({ dashboard, victim }) => dashboard(requestLine(`/projects/${victim.projectId}`), body),
  });
  return [
    ...FILTERS.map((filter) =>
      byViewer(
        `users with ${filter.slice(0, 40)}`,
        (at) => `GET ${at}/users?filter=${encodeURIComponent(filter)}`,
      ),
    ),
    {
      ...byViewer('preview of an audience of 100 conditions', (at) => `POST ${at}/audiences/preview`, {
        definition: CONDITIONS,
      }),
      // 422: counting its members takes more than five seconds, and ends there.
      expectedStatuses: [200, 422],
    },
    byViewer('a sentence of 100 conditions', (at) => `POST ${at}/audiences/sentence`, {
      definition: CONDITIONS,
    }),
    ...Object.entries(FILTERED_LISTS).map(([list, key]) =>
      byViewer(
        `${list} with a filter of 20 terms`,
        (at) => `GET ${at}/${list}?filter=${encodeURIComponent(filterOf(key))}`,
      ),
    ),
    byViewer('insights', (at) => `GET ${at}/insights`),
    byViewer('emails by day', (at) => `GET ${at}/insights/days?days=366&compare=true&rules=true`),
    byViewer('system', (at) => `GET ${at}/system`),
  ];
}
