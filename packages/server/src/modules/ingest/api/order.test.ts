import { expect, test } from 'vitest';
import { ALL_ENDPOINTS, bodyOf, type Facts, record } from '../../../../testing/factories/endpoints.ts';
import {
  type Caller,
  endpointServer,
  newCaller,
  NOTHING_STORED,
  type SendOptions,
} from '../../../../testing/servers/endpoint-server.ts';
import { revokeKey } from '../keys/change-key.ts';
import { suspendProject } from '../../administration/suspend-project.ts';

const server = await endpointServer();

type Step = {
  /** Adds a fault to a request that may have others already. */
  spoil: (caller: Caller, sending: SendOptions) => Promise<SendOptions> | SendOptions;
  status: (facts: Facts) => number;
  code: string;
};

const invalid = (facts: Facts) => facts.invalid;

/** From the last check of the pipeline to the first: each fault must hide all those above it here. */
const STEPS: Record<string, Step> = {
  'a field': {
    spoil: (_, sending) => ({ ...sending, body: {} }),
    status: invalid,
    code: 'validation_failed',
  },
  'a used Idempotency-Key': {
    async spoil(caller, sending) {
      await caller.send({ once: 'used' });
      return { ...sending, once: 'used' };
    },
    status: () => 422,
    code: 'idempotency_key_reuse',
  },
  'a malformed Idempotency-Key': {
    spoil: (_, sending) => ({ ...sending, once: 'a b' }),
    status: invalid,
    code: 'validation_failed',
  },
  'no JSON': {
    spoil: (_, sending) => ({ ...sending, body: '{' }),
    status: invalid,
    code: 'validation_failed',
  },
  'a size': {
    spoil: ({ facts }, sending) => ({ ...sending, body: '{'.repeat(facts.bodyMaxBytes + 1) }),
    status: () => 413,
    code: 'payload_too_large',
  },
  'a media type': {
    spoil: (_, sending) => ({ ...sending, headers: { 'Content-Type': 'text/plain' } }),
    status: () => 415,
    code: 'unsupported_media_type',
  },
  'the rate': {
    async spoil(caller, sending) {
      // The server reads a new limit within a second.
      await caller.limit({ rate: 0.001, burst: 1 });
      server.clock.advance(1_000);
      await caller.send(sending);
      return sending;
    },
    status: () => 429,
    code: 'rate_limited',
  },
  'a suspended project': {
    async spoil(caller, sending) {
      await suspendProject(server.db, caller.id);
      return sending;
    },
    status: () => 403,
    code: 'forbidden',
  },
  'a revoked key': {
    async spoil(caller, sending) {
      await revokeKey(server.db, { id: caller.keyId });
      return sending;
    },
    status: () => 401,
    code: 'auth_required',
  },
  'a method': {
    spoil: (_, sending) => ({ ...sending, method: 'PUT' }),
    status: () => 405,
    code: 'method_not_allowed',
  },
  'a path': {
    spoil: ({ facts }, sending) => ({ ...sending, path: `${facts.path}/` }),
    status: () => 404,
    code: 'not_found',
  },
};

test.each(ALL_ENDPOINTS)('$path reports faults in the order of the contract', async (facts) => {
  const caller = await newCaller(server, facts);
  let sending: SendOptions = {};
  for (const [name, step] of Object.entries(STEPS)) {
    sending = await step.spoil(caller, sending);
    const { status, errors } = await caller.send(sending);
    expect([name, status, errors[0]?.code]).toEqual([name, step.status(facts), step.code]);
  }
  // Only from the request that used the Idempotency-Key first.
  expect(await caller.stored()).toMatchObject({ waiting: 1, keys: 1 });
});

const EVENT_ENDPOINTS = ALL_ENDPOINTS.filter(({ stores }) => stores === 'events');

test.each(EVENT_ENDPOINTS)(
  '$path: replays an answer before validating a body that has become invalid over time',
  async (facts) => {
    const caller = await newCaller(server, facts);
    const inAnHour = new Date(server.clock.now() + 3_600_000).toISOString();
    const sending = { once: 'k', body: bodyOf(facts, [record(facts, { occurred_at: inAnHour })]) };
    const first = await caller.send(sending);
    server.clock.advance(-1_000);
    const again = await caller.send(sending);
    server.clock.advance(1_000);
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    if (facts.kind === 'bulk') return;
    server.clock.advance(-1_000);
    const { status, errors } = await caller.send({ ...sending, once: 'another' });
    server.clock.advance(1_000);
    expect([status, errors[0]?.field?.split('.').at(-1)]).toEqual([422, 'occurred_at']);
  },
);

test.each(ALL_ENDPOINTS)('$path stores nothing of a refused request', async (facts) => {
  const caller = await newCaller(server, facts);
  for (const more of [{ body: {} }, { body: '[' }, { once: '' }, { secret: null }, { method: 'PATCH' }])
    await caller.send({ once: 'k', ...more });
  expect(await caller.stored()).toEqual(NOTHING_STORED);
});
