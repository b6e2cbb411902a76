import fc from 'fast-check';
import { HOUR, MINUTE } from '../../factories/drafts.ts';

/** Everything that can happen to a project, as far as rules and drafts are concerned. */
const DAY = 24 * HOUR;
export const PEOPLE = ['u1', 'u2', 'u3'] as const;
export type OracleUserId = (typeof PEOPLE)[number];

export type ServerRecord =
  | { kind: 'user'; userId: OracleUserId; email: string | null; traits: Record<string, string> }
  | {
      kind: 'event';
      userId: OracleUserId;
      name: string;
      properties: Record<string, unknown>;
      agoMs: number;
      priority: 'live' | 'bulk';
      suppressed: boolean;
    };
export type MemberStep =
  | { act: 'approve' | 'skip' | 'edit' | 'send_anyway' | 'approve_and_undo' | 'skip_and_undo'; nth: number }
  | { act: 'postpone'; nth: number; byMs: number }
  | { act: 'pause' | 'resume' }
  | { act: 'suppress'; userId: OracleUserId; kind: 'user' | 'email'; forMs: number | null }
  | { act: 'off' | 'on'; rule: 'Visit' | 'onboarding_stall' };
/** Members act, then the project's server sends records, then time passes. */
export type HistoryRound = { steps: MemberStep[]; records: ServerRecord[]; ms: number };
export type History = { startMs: number; rounds: HistoryRound[] };

const userId = fc.constantFrom(...PEOPLE);

/** The first value is the plainest one, to which a failing history shrinks. */
function weighted<T>(...options: [weight: number, value: T][]): fc.Arbitrary<T> {
  return fc.oneof(...options.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}

const traits: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.record({ plan: weighted([1, 'free'], [2, 'pro']) }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constantFrom('Ada', 'Grace') }) },
  {
    weight: 1,
    arbitrary: fc.record({ timezone: fc.constantFrom('America/Los_Angeles', 'Asia/Tokyo', 'Mars/Olympus') }),
  },
);

function user(
  someone: fc.Arbitrary<OracleUserId>,
  email: fc.Arbitrary<string | null>,
): fc.Arbitrary<ServerRecord> {
  return fc.record({ kind: fc.constant('user' as const), userId: someone, email, traits });
}

type Sent = { name: string; properties: Record<string, unknown> };

function sends(name: string, ...samples: Record<string, unknown>[]): fc.Arbitrary<Sent> {
  return fc
    .constantFrom(...(samples.length > 0 ? samples : [{}]))
    .map((properties) => ({ name, properties }));
}

const sent = fc.oneof(
  { weight: 3, arbitrary: sends('user_signed_up') },
  { weight: 1, arbitrary: sends('feature_used') },
  { weight: 1, arbitrary: sends('onboarding_completed') },
  {
    weight: 4,
    arbitrary: sends(
      'trial_started',
      { trialDays: 5 },
      { trialDays: 14 },
      { trialDays: 2 },
      { trialDays: 0.1 },
      {},
    ),
  },
  { weight: 2, arbitrary: sends('trial_expiring', { trialDays: 3 }, { trialDays: 0 }, { daysLeft: 3 }) },
  { weight: 2, arbitrary: sends('subscription_started') },
  {
    weight: 4,
    arbitrary: sends(
      'usage_threshold_reached',
      { usagePercent: 85 },
      { usagePercent: 85, meter: 'seats' },
      { usagePercent: 100, meter: 'seats' },
      { usagePercent: 50 },
    ),
  },
  { weight: 4, arbitrary: sends('report_made', { plan: 'a' }, { plan: 'b' }, {}) },
  { weight: 2, arbitrary: sends('pinged', { size: 9 }, { size: 1 }) },
  { weight: 4, arbitrary: sends('visited') },
  { weight: 2, arbitrary: sends('left') },
  { weight: 3, arbitrary: sends('invited') },
  { weight: 2, arbitrary: sends('accepted') },
  { weight: 1, arbitrary: sends('bought') },
);

const event: fc.Arbitrary<ServerRecord> = fc
  .record({
    userId,
    sent,
    agoMs: weighted<number>([12, 0], [1, HOUR], [1, 30 * HOUR], [1, 5 * DAY]),
    priority: weighted<'live' | 'bulk'>([3, 'live'], [1, 'bulk']),
    suppressed: weighted([24, false], [1, true]),
  })
  .map(({ sent: { name, properties }, ...more }) => ({ kind: 'event', name, properties, ...more }));

const nth = fc.nat({ max: 7 });
const memberStep: fc.Arbitrary<MemberStep> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constantFrom(
        'approve' as const,
        'approve' as const,
        'skip' as const,
        'edit' as const,
        'send_anyway' as const,
        'approve_and_undo' as const,
        'skip_and_undo' as const,
      ),
      nth,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('postpone' as const),
      nth,
      byMs: fc.constantFrom(10 * MINUTE, 3 * HOUR, DAY),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constantFrom('pause' as const, 'resume' as const, 'resume' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('suppress' as const),
      userId,
      kind: fc.constantFrom('user' as const, 'email' as const),
      forMs: fc.constantFrom(null, 5 * HOUR, 3 * DAY),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom('off' as const, 'on' as const, 'on' as const),
      rule: fc.constantFrom('Visit' as const, 'onboarding_stall' as const),
    }),
  },
);

const round: fc.Arbitrary<HistoryRound> = fc.record({
  steps: fc.array(memberStep, { maxLength: 3 }),
  records: fc.array(
    fc.oneof(
      { weight: 5, arbitrary: event },
      { weight: 2, arbitrary: user(userId, weighted([6, null], [2, 'a@x.org'], [1, 'B@x.org'])) },
    ),
    { maxLength: 5, size: 'max' },
  ),
  ms: weighted<number>(
    [1, 0],
    [2, MINUTE],
    [2, 12 * MINUTE],
    [3, HOUR],
    [3, 2 * HOUR],
    [2, 5 * HOUR],
    [2, 11 * HOUR],
    [2, DAY],
    [1, 2 * DAY],
    [1, 4 * DAY],
  ),
});

/** Two users share an address, and the third mostly has none at first. */
const firstUsers = fc
  .tuple(
    user(fc.constant('u1'), weighted([9, 'a@x.org'], [1, null])),
    user(fc.constant('u2'), weighted([6, 'a@x.org'], [2, 'B@x.org'], [2, null])),
    user(fc.constant('u3'), weighted([6, null], [4, 'B@x.org'])),
  )
  .map((records): HistoryRound => ({ steps: [], records, ms: 0 }));

export const histories: fc.Arbitrary<History> = fc
  .record({
    startMs: fc.constantFrom(0, 3 * HOUR, 8 * HOUR, 12 * HOUR, 19 * HOUR),
    firstUsers,
    rounds: fc.array(round, { minLength: 2, maxLength: 14, size: 'max' }),
  })
  .map(({ startMs, firstUsers, rounds }) => ({ startMs, rounds: [firstUsers, ...rounds] }));
