import { describe, expect, test } from 'vitest';
import { type AskFacts, decideAsk, keepReasonOf } from './decide-ask.ts';
import { effectOf } from './record-answer.ts';

const MINUTE = 60_000;
const email = {
  draftId: 'd',
  id: 'e',
  address: 'ada@home.test',
  domain: 'acme.test',
  relay: 'r',
  relayGeneration: 3,
  endedAt: 1_000,
  asks: 0,
  askUntil: 10 * MINUTE,
};
const relay = { projectId: 1, id: 'r', kind: 'resend', generation: 3, connections: null } as const;
const facts: AskFacts = {
  email,
  now: 2_000,
  relay,
  restoredAt: -Infinity,
  isSuspended: false,
  isSentAgain: false,
  hasBytes: true,
  address: 'ada@home.test',
};

describe('keepReasonOf', () => {
  test.each<[string | null, Partial<AskFacts>]>([
    [null, {}],
    [null, { now: email.askUntil - 1 }],
    ['window_closed', { now: email.askUntil }],
    ['database_restored', { restoredAt: 1_000 }],
    [null, { restoredAt: 999 }],
    ['relay_deleted', { relay: null }],
    ['relay_changed', { relay: { ...relay, generation: 4 } }],
    ['suspended', { isSuspended: true }],
    ['sent_again', { isSentAgain: true }],
    ['bytes_deleted', { hasBytes: false }],
    ['erased', { address: undefined }],
    ['address_changed', { address: 'bob@home.test' }],
    // The send checks refuse a user without an address.
    [null, { address: null }],
  ])('returns %s for %o', (reason, changed) => {
    expect(keepReasonOf({ ...facts, ...changed })).toBe(reason);
  });
});

describe('decideAsk', () => {
  const held = (until: number | null) =>
    ({ passes: false, reason: 'quiet_hours', until, detail: { ends_at: 'x' } }) as const;

  test('asks if the send checks pass, and backs off', () => {
    const waits = Array.from({ length: 11 }, (_, asks) => decideAsk({ ...email, asks }, { passes: true }, 0));
    const minutes = waits.map((decision) => (decision.act === 'ask' ? decision.nextAt / MINUTE : null));
    expect(minutes).toEqual([1, 2, 3, 5, 15, 30, 60, 120, 240, 240, 240]);
  });

  test('waits for a check that passes within the window', () => {
    expect(decideAsk(email, held(email.askUntil - 1), 0)).toEqual({ act: 'wait', until: email.askUntil - 1 });
  });

  test.each([null, email.askUntil])('keeps the delivery unknown if a check fails until %s', (until) => {
    const kept = { act: 'keep', reason: 'quiet_hours', detail: { ends_at: 'x' } };
    expect(decideAsk(email, held(until), 0)).toEqual(kept);
  });
});

describe('effectOf', () => {
  const refusal = { result: 'failed', reason: 'rejected' } as const;

  test('trusts a refusal only of a provider that repeats its answer', () => {
    expect(effectOf(refusal, { repeatsAnswer: true })).toEqual({ act: 'failed' });
    expect(effectOf(refusal, { repeatsAnswer: false })).toEqual({ act: 'keep', reason: 'repeat_refused' });
  });

  test('asks no more if the provider received the first request and says nothing about it', () => {
    const repeated = { result: 'unknown', reason: 'duplicate', isRepeated: true } as const;
    expect(effectOf(repeated, { repeatsAnswer: true })).toEqual({ act: 'keep', reason: 'already_received' });
  });

  test.each([
    { result: 'unknown', reason: 'timeout' },
    { result: 'deferred', reason: 'relay_rejected', isRelayFault: true },
  ] as const)('waits after $result', (result) => {
    expect(effectOf(result, { repeatsAnswer: true })).toEqual({ act: 'wait' });
  });
});
