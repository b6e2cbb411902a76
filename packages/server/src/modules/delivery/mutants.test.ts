/**
 * Compares the send checks with a second, minimal implementation of the specification. The same comparison also gets implementations with
 * one defect each, and has to find every defect.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { gate, type GateResult, type GateReason } from './gate/gate.ts';
import type { GateFacts, Policy } from './gate/facts.ts';

type Gate = typeof gate;
type GateInput = { facts: GateFacts; policy: Policy; now: number };

const DAY = 24 * HOUR;
/** A Wednesday in winter and one in summer, far from any clock change. */
const NOONS = [Date.UTC(2026, 0, 14, 12), Date.UTC(2026, 6, 15, 12)];

/** Passes most of the time, so that the last check is reached as often as the first. */
function mostly<T>(open: T, ...shut: fc.Arbitrary<T>[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(open) },
    ...shut.map((arbitrary) => ({ weight: 3, arbitrary })),
  );
}

const gateInputs: fc.Arbitrary<GateInput> = fc
  .record({
    noon: fc.constantFrom(...NOONS),
    // Windows open and close at whole hours, so these and the milliseconds next to them are tested.
    offset: fc.tuple(fc.integer({ min: -24, max: 24 }), fc.constantFrom(-1, 0, 1, 30 * MINUTE)),
    zone: fc.constantFrom('UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kolkata'),
    window: mostly<Policy['quietHours']>(
      { start: '21:00', end: '08:00' },
      fc.constantFrom(null, { start: '12:00', end: '15:00' }),
    ),
    caps: mostly<Policy['caps']>(
      [
        { emails: 1, windowMs: DAY },
        { emails: 3, windowMs: 7 * DAY },
      ],
      fc.constantFrom(null, [{ emails: 2, windowMs: HOUR }]),
    ),
    paused: mostly(false, fc.constant(true)),
    isRestored: mostly(false, fc.constant(true)),
    ruleIsOn: mostly(true, fc.constant(false)),
    suppression: mostly<number | null | 'none'>('none', fc.constantFrom(null, -1, 0, 1, DAY)),
    refusedTopic: mostly<string | null>(null, fc.constant('news')),
    address: mostly<string | null>('a@x.org', fc.constant(null)),
    domain: mostly<GateFacts['domain']>(
      'pass',
      fc
        .constantFrom<'domain_not_ready' | 'no_sender' | 'public_url'>(
          'domain_not_ready',
          'no_sender',
          'public_url',
        )
        .map((reason) => ({ reason, detail: 'x' })),
    ),
    counts: mostly(true, fc.constant(false)),
    claimed: mostly<number[]>(
      [],
      fc.array(fc.constantFrom(1, HOUR - 1, HOUR, DAY - 1, DAY, 3 * DAY, 7 * DAY - 1, 7 * DAY), {
        maxLength: 4,
      }),
    ),
    yieldsTo: mostly<number | null>(null, fc.constantFrom(0, MINUTE, HOUR)),
    throttle: mostly<number | 'off'>(3, fc.constantFrom(0, 1), fc.constant('off' as const)),
    domainLimit: mostly<GateFacts['domainLimit']>(
      null,
      fc
        .constantFrom<'domain' | 'provider'>('domain', 'provider')
        .map((of) => ({ of, name: 'x.org', nextAt: Date.UTC(2027, 0) })),
    ),
    warmup: mostly<'pass' | number>('pass', fc.constant(DAY)),
    draftId: fc.uuid({ version: 7 }),
  })
  .map(({ noon, offset: [hours, ms], ...input }) => {
    const now = noon + hours * HOUR + ms;
    const { suppression, claimed, yieldsTo, throttle, warmup, window, caps, paused, zone, ...facts } = input;
    return {
      now,
      policy: {
        paused,
        quietHours: window,
        caps,
        throttle: throttle === 'off' ? null : { emails: 10, perMs: 1_000 },
        timeZone: 'Pacific/Kiritimati',
      },
      facts: {
        ...facts,
        zone,
        suppression:
          suppression === 'none'
            ? null
            : { reason: 'snoozed', until: suppression === null ? null : now + suppression },
        claimedAt: claimed.map((ago) => now - ago).toSorted((a, b) => b - a),
        yieldsTo: yieldsTo === null ? null : { id: 'other', deadlineAt: now + yieldsTo },
        throttle:
          throttle === 'off'
            ? { remaining: Infinity, nextAt: now }
            : { remaining: throttle, nextAt: now + 100 },
        warmup: warmup === 'pass' ? warmup : { nextAt: now + warmup },
      },
    };
  });

/** Returns true if a local clock shows a time within the window. */
function isQuiet(at: number, zone: string, window: Policy['quietHours']): boolean {
  if (!window) return false;
  const shows = new Date(at).toLocaleTimeString('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
  });
  return window.start < window.end
    ? shows >= window.start && shows < window.end
    : shows >= window.start || shows < window.end;
}

function isFull({ claimedAt }: GateFacts, caps: Policy['caps'], at: number): boolean {
  return (caps ?? []).some(
    ({ emails, windowMs }) => claimedAt.filter((claimed) => claimed > at - windowMs).length >= emails,
  );
}

/** Returns the first check that fails, in the order of the specification. */
function reasonFor({ facts, policy, now }: GateInput): GateReason | null {
  const { suppression, domain } = facts;
  const inOrder: [GateReason, boolean][] = [
    ['restore_unconfirmed', facts.isRestored],
    ['paused', policy.paused],
    ['rule_off', !facts.ruleIsOn],
    ['suppressed', suppression !== null && (suppression.until ?? Infinity) > now],
    ['topic_unsubscribed', facts.refusedTopic !== null],
    ['no_address', facts.address === null],
    [domain === 'pass' ? 'domain_not_ready' : domain.reason, domain !== 'pass'],
    ['quiet_hours', isQuiet(now, facts.zone, policy.quietHours)],
    ['frequency_cap', facts.counts && isFull(facts, policy.caps, now)],
    ['frequency_cap_yielded', facts.counts && policy.caps !== null && facts.yieldsTo !== null],
    ['throttle', policy.throttle !== null && facts.throttle.remaining < 1],
    [
      facts.domainLimit?.of === 'domain' ? 'domain_throttle' : 'provider_throttle',
      facts.domainLimit !== null,
    ],
    ['warmup', facts.warmup !== 'pass'],
  ];
  return inOrder.find(([, isShut]) => isShut)?.[0] ?? null;
}

const OPENED_BY_TIME: GateReason[] = [
  'quiet_hours',
  'frequency_cap',
  'frequency_cap_yielded',
  'throttle',
  'domain_throttle',
  'provider_throttle',
  'warmup',
];

/** Returns what is wrong with the time of the next check; null: nothing. */
function wrongUntil(
  input: GateInput,
  { reason, until }: Extract<GateResult, { passes: false }>,
): string | null {
  const ends = reason === 'suppressed' ? (input.facts.suppression?.until ?? null) : null;
  const isByTime = OPENED_BY_TIME.includes(reason) || ends !== null;
  if (until === null) return isByTime ? 'time opens it, but it says nothing' : null;
  if (!isByTime) return 'time does not open it';
  return until > input.now ? (WRONG[reason]?.(input, until) ?? null) : 'it is not later than now';
}

function wrongEnd({ facts: { suppression } }: GateInput, until: number): string | null {
  return until === suppression?.until ? null : 'that is not the end of the suppression';
}

const WRONG: Partial<Record<GateReason, (input: GateInput, until: number) => string | null>> = {
  quiet_hours: wrongRelease,
  frequency_cap: wrongSlot,
  suppressed: wrongEnd,
};

function wrongSlot({ facts, policy: { caps } }: GateInput, until: number): string | null {
  if (isFull(facts, caps, until)) return 'there is no slot then';
  return isFull(facts, caps, until - 1) ? null : 'there is a slot before';
}

function wrongRelease({ facts: { zone }, policy: { quietHours } }: GateInput, until: number): string | null {
  if (isQuiet(until, zone, quietHours)) return 'it is still quiet then';
  const isSpread = [31 * MINUTE, 15 * MINUTE, MINUTE].some((ms) => isQuiet(until - ms, zone, quietHours));
  return isSpread ? null : 'that is more than half an hour after the end';
}

function check(candidate: Gate, numRuns: number): fc.RunDetails<[GateInput]> {
  return fc.check(
    fc.property(gateInputs, (input) => {
      const result = candidate(input.facts, input.policy, input.now);
      expect(result.passes ? null : result.reason).toBe(reasonFor(input));
      if (!result.passes) expect(wrongUntil(input, result)).toBe(null);
    }),
    { numRuns, seed: 4, endOnFailure: true },
  );
}

test('matches the specification in every situation', () => {
  const run = check(gate, 20_000);
  expect(run.failed, fc.defaultReportMessage(run)).toBe(false);
});

const caps = (policy: Policy, more: number): Policy => ({
  ...policy,
  caps: policy.caps?.map((cap) => ({ ...cap, emails: cap.emails + more })) ?? null,
});
const later = (result: GateResult, ms: number): GateResult =>
  result.passes || result.until === null ? result : { ...result, until: result.until + ms };

const DEFECTS: [string, Gate][] = [
  ['a pause stops nothing', (facts, policy, now) => gate(facts, { ...policy, paused: false }, now)],
  [
    'a suppression that ends counts as over',
    (facts, policy, now) =>
      gate(
        { ...facts, suppression: facts.suppression?.until === null ? facts.suppression : null },
        policy,
        now,
      ),
  ],
  [
    'a suppression that is over goes on',
    (facts, policy, now) => {
      const { suppression } = facts;
      return gate({ ...facts, suppression: suppression && { ...suppression, until: null } }, policy, now);
    },
  ],
  [
    'a topic that is refused is sent about',
    (facts, policy, now) => gate({ ...facts, refusedTopic: null }, policy, now),
  ],
  [
    'a domain that is not verified is as good as one that is',
    (facts, policy, now) => gate({ ...facts, domain: 'pass' }, policy, now),
  ],
  [
    'quiet hours go by the zone of the project',
    (facts, policy, now) => gate({ ...facts, zone: policy.timeZone }, policy, now),
  ],
  [
    'quiet hours begin a minute late',
    (facts, policy, now) => {
      const { quietHours } = policy;
      const start = quietHours?.start.replace(/0$/, '1') ?? '';
      return gate(facts, { ...policy, quietHours: quietHours && { ...quietHours, start } }, now);
    },
  ],
  ['a cap allows one email too many', (facts, policy, now) => gate(facts, caps(policy, 1), now)],
  [
    'a slot is free a moment too early',
    (facts, policy, now) => gate({ ...facts, claimedAt: facts.claimedAt.map((at) => at - 1) }, policy, now),
  ],
  [
    'an email that does not count is held by the cap',
    (facts, policy, now) => gate({ ...facts, counts: true }, policy, now),
  ],
  ['no email yields to another', (facts, policy, now) => gate({ ...facts, yieldsTo: null }, policy, now)],
  [
    'the throttle looks away',
    (facts, policy, now) => gate({ ...facts, throttle: { ...facts.throttle, remaining: 1 } }, policy, now),
  ],
  [
    'a provider that asked for less is not heard',
    (facts, policy, now) => gate({ ...facts, domainLimit: null }, policy, now),
  ],
  ['the warmup looks away', (facts, policy, now) => gate({ ...facts, warmup: 'pass' }, policy, now)],
  [
    'the cap speaks before quiet hours do',
    (facts, policy, now) => {
      const capped = gate(facts, { ...policy, quietHours: null }, now);
      return !capped.passes && capped.reason === 'frequency_cap' ? capped : gate(facts, policy, now);
    },
  ],
  ['what is held is asked again too early', (facts, policy, now) => later(gate(facts, policy, now), -HOUR)],
];

test.each(DEFECTS)('finds a planted defect: %s', (_, defect) => {
  expect(check(defect, 20_000).failed).toBe(true);
});
