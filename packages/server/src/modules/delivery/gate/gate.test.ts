import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gate, type GateReason } from './gate.ts';
import { quietUntil, releaseAt } from './quiet-hours.ts';
import type { Policy, GateFacts } from './facts.ts';

const [MINUTE, HOUR] = [60_000, 3_600_000];
/** Noon in winter: all of Europe is outside quiet hours, and in Sydney it is 23:00. */
const NOW = Date.UTC(2026, 0, 15, 12);
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const QUIET = { start: '21:00', end: '08:00' };

const policy: Policy = {
  paused: false,
  quietHours: QUIET,
  caps: [
    { emails: 1, windowMs: 24 * HOUR },
    { emails: 3, windowMs: 168 * HOUR },
  ],
  throttle: { emails: 10, perMs: 1_000 },
  timeZone: 'UTC',
};
const facts: GateFacts = {
  draftId: ID,
  isRestored: false,
  ruleIsOn: true,
  suppression: null,
  refusedTopic: null,
  address: 'ada@example.com',
  domain: 'pass',
  zone: 'Europe/Berlin',
  counts: true,
  claimedAt: [],
  yieldsTo: null,
  throttle: { remaining: 1, nextAt: NOW },
  domainLimit: null,
  warmup: 'pass',
};

type Close = { facts?: Partial<GateFacts>; policy?: Partial<Policy> };
type No = { reason: GateReason; until: number | null; detail: Record<string, unknown> };

const ends = quietUntil(NOW, 'Australia/Sydney', QUIET) ?? 0;
/** Every gate in its order: the facts that close only this gate, and its answer. */
const GATES: [string, Close, No][] = [
  [
    'a restored database',
    { facts: { isRestored: true } },
    { reason: 'restore_unconfirmed', until: null, detail: { restored: true } },
  ],
  ['a pause', { policy: { paused: true } }, { reason: 'paused', until: null, detail: { paused: true } }],
  [
    'a rule that is off',
    { facts: { ruleIsOn: false } },
    { reason: 'rule_off', until: null, detail: { rule_is_on: false } },
  ],
  [
    'a suppression without end',
    { facts: { suppression: { reason: 'complaint', until: null } } },
    { reason: 'suppressed', until: null, detail: { suppression: 'complaint', until: null } },
  ],
  [
    'a suppression that ends',
    { facts: { suppression: { reason: 'snoozed', until: NOW + 1 } } },
    {
      reason: 'suppressed',
      until: NOW + 1,
      detail: { suppression: 'snoozed', until: '2026-01-15T12:00:00.001Z' },
    },
  ],
  [
    'a topic that the person refuses',
    { facts: { refusedTopic: 'news' } },
    { reason: 'topic_unsubscribed', until: null, detail: { topic: 'news' } },
  ],
  [
    'no address',
    { facts: { address: null } },
    { reason: 'no_address', until: null, detail: { address: null } },
  ],
  ...(['domain_not_ready', 'no_sender', 'public_url'] as const).map((reason): [string, Close, No] => [
    `the sending domain: ${reason}`,
    { facts: { domain: { reason, detail: 'what it says' } } },
    { reason, until: null, detail: { domain: 'what it says' } },
  ]),
  [
    'quiet hours',
    { facts: { zone: 'Australia/Sydney' } },
    {
      reason: 'quiet_hours',
      until: releaseAt(ends, ID, { zone: 'Australia/Sydney', window: QUIET }),
      detail: {
        quiet_hours: '21:00-08:00',
        time_zone: 'Australia/Sydney',
        ends_at: '2026-01-15T21:00:00.000Z',
      },
    },
  ],
  [
    'a cap',
    { facts: { claimedAt: [NOW - 23 * HOUR, NOW - 25 * HOUR] } },
    {
      reason: 'frequency_cap',
      until: NOW + HOUR,
      detail: { cap: '1/24h', slot_taken_at: '2026-01-14T13:00:00.000Z' },
    },
  ],
  [
    'a better claim to the slot',
    { facts: { yieldsTo: { id: 'the-other', deadlineAt: NOW + HOUR } } },
    {
      reason: 'frequency_cap_yielded',
      until: NOW + HOUR,
      detail: { yields_to: 'the-other', its_deadline: '2026-01-15T13:00:00.000Z' },
    },
  ],
  [
    'the throttle',
    { facts: { throttle: { remaining: 0, nextAt: NOW + 100 } } },
    {
      reason: 'throttle',
      until: NOW + 100,
      detail: { throttle: '10/s', next_at: '2026-01-15T12:00:00.100Z' },
    },
  ],
  [
    'the warmup',
    { facts: { warmup: { nextAt: NOW + HOUR } } },
    { reason: 'warmup', until: NOW + HOUR, detail: { next_at: '2026-01-15T13:00:00.000Z' } },
  ],
];

const gateResult = (closes: Close[], now = NOW) =>
  gate(
    Object.assign({}, facts, ...closes.map((close) => close.facts)) as GateFacts,
    Object.assign({}, policy, ...closes.map((close) => close.policy)) as Policy,
    now,
  );

test('passes an email that no gate holds', () => {
  expect(gateResult([])).toEqual({ passes: true });
});

describe('a single closed gate reports its reason, the observed values and the retry time', () => {
  test.each(GATES)('%s', (_name, close, no) => {
    expect(gateResult([close])).toEqual({ passes: false, ...no });
  });
});

describe('the first closed gate in order is the reason', () => {
  for (const [first, [name, close, no]] of GATES.entries()) {
    test(`${name} precedes all later gates`, () => {
      for (const [later, closeLater] of GATES.slice(first + 1)) {
        // A test cannot set two values of the same fact.
        const same = Object.keys(closeLater.facts ?? {}).some((fact) =>
          Object.hasOwn(close.facts ?? {}, fact),
        );
        if (!same) expect(gateResult([close, closeLater]), later).toMatchObject({ reason: no.reason });
      }
      const all = GATES.slice(first).map(([, each]) => each);
      expect(gateResult(all.toReversed())).toMatchObject({ reason: no.reason });
    });
  }
});

describe('an open gate', () => {
  const CASES: [string, Close][] = [
    ['once a suppression has ended', { facts: { suppression: { reason: 'snoozed', until: NOW } } }],
    ['where quiet hours are off', { policy: { quietHours: null }, facts: { zone: 'Australia/Sydney' } }],
    ['by the zone of the recipient, not that of the project', { policy: { timeZone: 'Australia/Sydney' } }],
    ['once the window of a cap has passed', { facts: { claimedAt: [NOW - 24 * HOUR] } }],
    ['where caps are off', { policy: { caps: null }, facts: { claimedAt: [NOW, NOW, NOW] } }],
    ['to an email that does not count', { facts: { counts: false, claimedAt: [NOW, NOW, NOW] } }],
    ['and does not yield', { facts: { counts: false, yieldsTo: { id: 'the-other', deadlineAt: NOW } } }],
    [
      'where there is no cap to yield for',
      { policy: { caps: null }, facts: { yieldsTo: { id: 'the-other', deadlineAt: NOW } } },
    ],
    [
      'where no throttle is set',
      { policy: { throttle: null }, facts: { throttle: { remaining: 0, nextAt: NOW } } },
    ],
  ];
  test.each(CASES)('%s', (_name, close) => {
    expect(gateResult([close])).toEqual({ passes: true });
  });
});

test('retries after a while if an email yields to one that is late itself', () => {
  const late = { facts: { yieldsTo: { id: 'the-other', deadlineAt: NOW - HOUR } } };
  expect(gateResult([late])).toMatchObject({ reason: 'frequency_cap_yielded', until: NOW + 5 * MINUTE });
});

test('never retries immediately if the retry time has passed', () => {
  const stale = [
    { facts: { throttle: { remaining: 0, nextAt: NOW - HOUR } } },
    { facts: { warmup: { nextAt: NOW } } },
  ];
  for (const close of stale) expect(gateResult([close])).toMatchObject({ passes: false, until: NOW + 1 });
});

test('passes at the retry times in the end, and never before', () => {
  const moment = fc.integer({ min: NOW - 200 * HOUR, max: NOW });
  fc.assert(
    fc.property(
      fc.array(moment, { maxLength: 5 }).map((all) => all.toSorted((a, b) => b - a)),
      fc.constantFrom('Australia/Sydney', 'Europe/Berlin', 'America/Havana', 'Pacific/Apia'),
      fc.option(fc.integer({ min: NOW - HOUR, max: NOW + 100 * HOUR })),
      (claimedAt, zone, suppressedUntil) => {
        const suppression = suppressedUntil === null ? null : { reason: 'snoozed', until: suppressedUntil };
        const close = { facts: { claimedAt, zone, suppression } };
        let now = NOW;
        for (let checks = 0; ; checks++) {
          expect(checks).toBeLessThan(10);
          const result = gateResult([close], now);
          if (result.passes) break;
          expect(result.until).toBeGreaterThan(now);
          // Apart from the spread after quiet hours, the millisecond before is still held.
          if (result.reason !== 'quiet_hours')
            expect(gateResult([close], (result.until ?? 0) - 1).passes).toBe(false);
          now = result.until ?? 0;
        }
        expect(quietUntil(now, zone, QUIET)).toBeNull();
      },
    ),
    { numRuns: 500 },
  );
});
