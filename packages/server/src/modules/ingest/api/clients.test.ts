import { expect, test } from 'vitest';
import {
  ALL_ENDPOINTS,
  bodyOf,
  EVENTS,
  EVENTS_BATCH,
  type Facts,
  record,
} from '../../../../testing/factories/endpoints.ts';
import {
  type Caller,
  endpointServer,
  newCaller,
  type SendOptions,
} from '../../../../testing/servers/endpoint-server.ts';
import { testServer } from '../../../../testing/servers/server.ts';
import { listKeys } from '../keys/list-keys.ts';
import { listWarnings } from '../warnings/store.ts';
import { revokeKey } from '../keys/change-key.ts';
import { iso } from '../../../platform/time/clock.ts';

const minimumVersions = new Map([['beckon-js', '1.4.0']]);
const server = await endpointServer({ minimumVersions });

/** Sends requests to a process that stops afterwards, because a process writes what it holds in memory when it stops. */
async function throughAnother(
  facts: Facts,
  requests: (send: Caller['send'], caller: Caller) => Promise<void>,
): Promise<Caller> {
  const caller = await newCaller(server, facts);
  const { clock, database } = server;
  const another = { ...(await testServer({ clock, database, roles: ['api'] })), clock };
  try {
    await requests((sending: SendOptions = {}) => caller.send({ at: another, ...sending }), caller);
  } finally {
    await another.stop();
  }
  return caller;
}

test.each(ALL_ENDPOINTS)(
  '$path sends an outdated client the least version, whatever the answer',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const headers = { 'User-Agent': 'beckon-js/1.3.9 node/26' };
    const responses = [
      await caller.send({ headers, once: 'k' }),
      await caller.send({ headers, once: 'k' }),
      await caller.send({ headers, once: 'k', body: {} }),
      await caller.send({ headers, body: '{' }),
      await caller.send({ headers: { ...headers, 'Content-Type': 'text/plain' } }),
    ];
    expect(responses.map((response) => response.headers['x-client-outdated'])).toEqual(
      Array(5).fill('1.4.0'),
    );
    expect(responses.map((response) => response.status)).toEqual([
      facts.accepted,
      facts.accepted,
      422,
      facts.invalid,
      415,
    ]);
  },
);

test('sends no version to a recent, unknown, unreadable or silent client, and never refuses one', async () => {
  const caller = await newCaller(server, EVENTS);
  const agents = [
    'beckon-js/1.4.0',
    'beckon-js/2.0.0',
    'other/0.0.1',
    'beckon-js/latest',
    'beckon-js',
    '',
    '((',
    undefined,
  ];
  for (const agent of agents) {
    const { status, headers } = await caller.send({ headers: { 'User-Agent': agent } });
    expect([agent, status, headers['x-client-outdated']]).toEqual([agent, 202, undefined]);
  }
});

test('sends no version without a live key', async () => {
  const caller = await newCaller(server, EVENTS);
  const headers = { 'User-Agent': 'beckon-js/1.0.0' };
  await caller.send({ headers });
  await revokeKey(server.db, { id: caller.keyId });
  for (const secret of [caller.secret, null]) {
    const response = await caller.send({ headers, secret });
    expect([response.status, response.headers['x-client-outdated']]).toEqual([401, undefined]);
  }
});

const USES: [what: string, sending: SendOptions][] = [
  ['a request that was stored', {}],
  ['one that was refused as invalid', { body: {} }],
  ['one that was refused before its body was read', { headers: { 'Content-Type': 'text/plain' } }],
];

test.each(USES)('records the last use of a key by %s, and its client', async (_, sending) => {
  const caller = await throughAnother(EVENTS, async (send) => {
    await send({ ...sending, headers: { ...sending.headers, 'User-Agent': 'beckon-py/3.2.1' } });
  });
  const [key] = await listKeys(server.db, caller.id);
  expect(key).toMatchObject({
    last_used_at: iso(server.clock.now()),
    client: { name: 'beckon-py', version: '3.2.1' },
  });
});

test('counts only requests that a key opened as its use', async () => {
  const caller = await throughAnother(EVENTS, async (send, { secret }) => {
    await send({ secret: null });
    await send({ secret: `${secret.slice(0, -1)}_` });
    await send({ secret: null, query: `?key=${secret}` });
  });
  const [key] = await listKeys(server.db, caller.id);
  expect(key).toMatchObject({ last_used_at: null, client: null });
});

test('accepts placeholder ids and an Idempotency-Key that is not a UUID v4, and counts warnings', async () => {
  const caller = await throughAnother(EVENTS_BATCH, async (send) => {
    await send({ once: '7b0e1f5c-2d3a-4f6b-8c9d-0e1f2a3b4c5d' });
    await send({ once: 'order-17' });
    await send({ once: '7b0e1f5c-2d3a-1f6b-8c9d-0e1f2a3b4c5d' });
    const nobodies = ['undefined', 'u-1', 'null'].map((id) => record(EVENTS_BATCH, { external_user_id: id }));
    expect((await send({ body: bodyOf(EVENTS_BATCH, nobodies) })).status).toBe(202);
  });
  const warnings = await listWarnings(server.db, caller.id);
  expect(warnings.map(({ code, count }) => [code, count])).toEqual([
    ['idempotency_key_not_uuid_v4', 2],
    ['placeholder_user_id', 1],
  ]);
  expect((await caller.stored()).waiting).toBe(6);
});
