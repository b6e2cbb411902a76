import { type DkimKey, isMiss, RETIRES_AFTER_MS, SETTLES_MS } from './dkim-key.ts';
import type { DomainState, SendingDomain } from './domain.ts';
import type { DnsRecordFinding, DomainRecord } from './findings.ts';

/**
 * State of a sending domain:
 *
 *   pending ──right──▶ verified ──wrong──▶ degraded ──wrong 3 times over an hour──▶ failed
 *                         ▲ ◀──────right──────┘                                        │
 *                         └──────────────────────────right─────────────────────────────┘
 *
 * Emails are sent from verified and degraded domains. A lookup without an answer changes no state.
 */
export type DnsCheckResult = 'right' | 'wrong' | 'unknown';

const MISSES_MIN = 3;
const FAILS_AFTER_MS = 3_600_000;

const MOVES: Record<DomainState, { right: DomainState; wrong: (hasLasted: boolean) => DomainState }> = {
  pending: { right: 'verified', wrong: () => 'pending' },
  verified: { right: 'verified', wrong: () => 'degraded' },
  degraded: { right: 'verified', wrong: (hasLasted) => (hasLasted ? 'failed' : 'degraded') },
  failed: { right: 'verified', wrong: () => 'failed' },
};

/** Returns the outcome for the required records. A record that is certainly wrong decides, even if others are unknown. */
export function outcomeOf(records: DomainRecord[], findings: DnsRecordFinding[]): DnsCheckResult {
  const statuses = records
    .filter(({ required }) => required)
    .map(
      ({ kind, name }) =>
        findings.find((finding) => finding.kind === kind && finding.name === name)?.verdict ?? 'unknown',
    );
  if (statuses.some(isMiss)) return 'wrong';
  return statuses.includes('unknown') ? 'unknown' : 'right';
}

type DomainCheckState = Pick<
  SendingDomain,
  'state' | 'misses' | 'failingSince' | 'verifiedAt' | 'warm' | 'warmupFrom'
>;

/** Applies the outcome of a check to a domain. */
export function afterCheck<D extends DomainCheckState>(domain: D, outcome: DnsCheckResult, now: number): D {
  switch (outcome) {
    case 'unknown':
      return domain;
    case 'right': {
      const isNew = domain.state === 'pending' || domain.state === 'failed';
      return {
        ...domain,
        state: MOVES[domain.state].right,
        misses: 0,
        failingSince: null,
        verifiedAt: isNew ? now : domain.verifiedAt,
        warmupFrom: domain.warm ? null : (domain.warmupFrom ?? now),
      };
    }
    case 'wrong': {
      const misses = domain.misses + 1;
      const failingSince = domain.failingSince ?? now;
      const hasLasted = misses >= MISSES_MIN && now - failingSince >= FAILS_AFTER_MS;
      return { ...domain, state: MOVES[domain.state].wrong(hasLasted), misses, failingSince };
    }
    default:
      return outcome satisfies never;
  }
}

const SOONEST_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const EAGER_FOR_MS = 72 * HOUR_MS;
/** With this interval, three misses take a little more than an hour. */
const DEGRADED_EVERY_MS = 20 * 60_000;

type CheckTimes = Pick<SendingDomain, 'state' | 'createdAt' | 'failingSince'>;

/** Returns the time of the next DNS check: that of the domain, or earlier for a key in preparation. */
export function nextCheckAt(
  domain: CheckTimes,
  keys: DkimKey[],
  seen: { outcome: DnsCheckResult; now: number },
): number {
  const { now } = seen;
  const forKeys = keys.flatMap((key) => (domain.state === 'pending' ? [] : dueForKey(key, now)));
  return Math.min(now + waitMs(domain, seen), ...forKeys.map((at) => Math.max(at, now + SOONEST_MS)));
}

function waitMs(domain: CheckTimes, { outcome, now }: { outcome: DnsCheckResult; now: number }): number {
  switch (domain.state) {
    case 'pending':
      return eager(now - domain.createdAt);
    case 'failed':
      return eager(now - (domain.failingSince ?? now));
    case 'degraded':
      return DEGRADED_EVERY_MS;
    case 'verified':
      return outcome === 'unknown' ? HOUR_MS : DAY_MS;
    default:
      return domain.state satisfies never;
  }
}

/** Returns the interval between checks. At first a member is probably working on the records. After three days that is unlikely. */
function eager(forMs: number): number {
  return forMs >= EAGER_FOR_MS ? DAY_MS : Math.min(HOUR_MS, Math.max(SOONEST_MS, Math.floor(forMs / 4)));
}

function dueForKey({ state, createdAt, changedAt }: DkimKey, now: number): number[] {
  switch (state) {
    case 'pending':
      return [now + eager(now - createdAt)];
    case 'published':
      return [changedAt + SETTLES_MS];
    case 'retiring':
      return [changedAt + RETIRES_AFTER_MS];
    case 'active':
      return [];
    default:
      return state satisfies never;
  }
}
