import { expect, test } from 'vitest';
import {
  ALL_ENDPOINTS,
  bodyOf,
  EVENTS,
  EVENTS_BATCH,
  type Facts,
  record,
} from '../../../testkit/endpoints.ts';
import { type Caller, endpointServer, newCaller, type Sending } from '../../../testkit/endpoint-server.ts';
import { testServer } from '../../../testkit/server.ts';
import { listKeys } from '../../features/keys/index.ts';
import { listWarnings } from '../../features/warnings/index.ts';
import { revokeKey } from '../../flows/revoke-key.ts';

const minimumVersions = new Map([['beckon-js', '1.4.0']]);
const server = await endpointServer({ minimumVersions });

/** What a process still holds in memory is written when it stops, so these requests go to one that does. */
async function throughAnother(
  facts: Facts,
  requests: (send: Caller['send'], caller: Caller) => Promise<void>,
): Promise<Caller> {
  const caller = await newCaller(server, facts);
  const { clock, database } = server;
  const another = { ...(await testServer({ clock, database, roles: ['api'] })), clock };
  try {
    await requests((sending: Sending = {}) => caller.send({ at: another, ...sending }), caller);
  } finally {
    await another.stop();
  }
  return caller;
}

test.each(ALL_ENDPOINTS)(
  '$path tells an outdated client what is the least version, whatever the answer',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const headers = { 'User-Agent': 'beckon-js/1.3.9 node/26' };
    const answers = [
      await caller.send({ headers, once: 'k' }),
      await caller.send({ headers, once: 'k' }),
      await caller.send({ headers, once: 'k', body: {} }),
      await caller.send({ headers, body: '{' }),
      await caller.send({ headers: { ...headers, 'Content-Type': 'text/plain' } }),
    ];
    expect(answers.map((answer) => answer.headers['x-client-outdated'])).toEqual(Array(5).fill('1.4.0'));
    expect(answers.map((answer) => answer.status)).toEqual([
      facts.accepted,
      facts.accepted,
      422,
      facts.invalid,
      415,
    ]);
  },
);

test('a client that is recent, unknown, unreadable or silent hears nothing of it, and is never refused', async () => {
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

test('who has no live key hears nothing of versions', async () => {
  const caller = await newCaller(server, EVENTS);
  const headers = { 'User-Agent': 'beckon-js/1.0.0' };
  await caller.send({ headers });
  await revokeKey(server.db, { id: caller.keyId });
  for (const secret of [caller.secret, null]) {
    const answer = await caller.send({ headers, secret });
    expect([answer.status, answer.headers['x-client-outdated']]).toEqual([401, undefined]);
  }
});

const USES: [what: string, sending: Sending][] = [
  ['a request that was stored', {}],
  ['one that was refused as invalid', { body: {} }],
  ['one that was refused before its body was read', { headers: { 'Content-Type': 'text/plain' } }],
];

test.each(USES)('a key was last used by %s, and by which client', async (_, sending) => {
  const caller = await throughAnother(EVENTS, async (send) => {
    await send({ ...sending, headers: { ...sending.headers, 'User-Agent': 'beckon-py/3.2.1' } });
  });
  const [key] = await listKeys(server.db, caller.id);
  expect(key).toMatchObject({
    lastUsedAt: new Date(server.clock.now()),
    client: { name: 'beckon-py', version: '3.2.1' },
  });
});

test('a request that a key did not open is no use of it', async () => {
  const caller = await throughAnother(EVENTS, async (send, { secret }) => {
    await send({ secret: null });
    await send({ secret: `${secret.slice(0, -1)}_` });
    await send({ secret: null, query: `?key=${secret}` });
  });
  const [key] = await listKeys(server.db, caller.id);
  expect(key).toMatchObject({ lastUsedAt: null, client: null });
});

test('an Idempotency-Key that is no UUID v4, and ids that are nobody, are taken and counted as warnings', async () => {
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
