import { randomUUID } from 'node:crypto';
import { bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import type { Caller, EndpointServer, SendOptions } from '../../servers/endpoint-server.ts';

/** A possible response to a request with a valid key. Some checks must come before every one of them. */
export type Outcome = {
  name: string;
  status: number;
  /** Prepares the project. The returned request, sent to `at`, then gets this response, however often it is sent. */
  prepare(caller: Caller, at: EndpointServer): Promise<SendOptions>;
};

export function outcomesOf(facts: Facts): Outcome[] {
  const plain = (name: string, status: number, sending: SendOptions): Outcome => ({
    name,
    status,
    prepare: async () => sending,
  });
  const invalid = facts.list === null ? {} : { [facts.list]: [] };
  const outcomes: Outcome[] = [
    plain('valid', facts.accepted, {}),
    plain('invalid', facts.invalid, { body: invalid }),
    plain('invalid, with an Idempotency-Key', facts.invalid, { body: invalid, once: randomUUID() }),
    plain('not JSON', facts.invalid, { body: '{' }),
    plain('a malformed Idempotency-Key', facts.invalid, { once: 'a b' }),
    plain('not application/json', 415, { headers: { 'Content-Type': 'text/plain' } }),
    plain('too large', 413, { body: ' '.repeat(facts.bodyMaxBytes + 1) }),
    {
      name: 'over the rate limit',
      status: 429,
      async prepare(caller, at) {
        await caller.limit({ rate: 0.001, burst: 1 });
        await caller.send({ at });
        return {};
      },
    },
    {
      name: 'a replay',
      status: facts.accepted,
      async prepare(caller, at) {
        const once = randomUUID();
        await caller.send({ once, at });
        return { once };
      },
    },
    {
      name: 'a reuse',
      status: 422,
      async prepare(caller, at) {
        const once = randomUUID();
        await caller.send({ once, at });
        return { once, body: bodyOf(facts, [record(facts, { external_user_id: 'other' })]) };
      },
    },
  ];
  return facts.kind === 'bulk' ? [...outcomes, QUEUE_FULL] : outcomes;
}

const QUEUE_FULL: Outcome = {
  name: 'a full queue',
  status: 429,
  async prepare(caller) {
    await caller.fillQueue(50_000);
    return {};
  },
};
