import type { ProjectSender } from './find-sender.ts';
import type { DomainLimitRow } from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { countForWarmup, listDomainLimits } from './email-rows.ts';
import type { GateFacts } from './gate/facts.ts';
import { refill, takeTokens, type Throttle, warmupDay, remainingWarmup } from './gate/limits.ts';

/** The limits for emails of one domain: its own throttle, and mailbox providers that asked for a slower rate. */
export type DomainLimits = {
  /** Returns the limit that holds emails to this provider now, or null. */
  limitFor(provider: string): GateFacts['domainLimit'];
  takeToken(provider: string): void;
  /** The buckets that tokens were taken from. */
  changedRows(): DomainLimitRow[];
};

/** The domain's own tokens are stored under this name, which no provider has. */
const ITSELF = '';

type Limit = { row: DomainLimitRow; throttle: Throttle; isChanged: boolean };
type LimitsQuery = { projectId: number; sender: ProjectSender; now: number };

/** Returns null if no limit is set, which is the usual case. */
export async function loadDomainLimits(
  tx: Tx,
  { projectId, sender, now }: LimitsQuery,
): Promise<DomainLimits | null> {
  const rows = await listDomainLimits(tx, { projectId, domain: sender.domain });
  const limits = new Map<string, Limit>();
  for (const row of rows) {
    const throttle = row.provider === ITSELF ? null : paceNow(row, now);
    if (throttle) limits.set(row.provider, { row, throttle, isChanged: false });
  }
  const domainThrottle = sender.signer?.domain.throttle ?? null;
  if (domainThrottle) {
    const existing = rows.find(({ provider }) => provider === ITSELF);
    const row = existing ?? newRow({ projectId, domain: sender.domain, throttle: domainThrottle, now });
    limits.set(ITSELF, { row, throttle: domainThrottle, isChanged: false });
  }
  return limits.size === 0 ? null : createDomainLimits(limits, { domain: sender.domain, now });
}

function newRow({
  projectId,
  domain,
  throttle,
  now,
}: Omit<LimitsQuery, 'sender'> & { domain: string; throttle: Throttle }): DomainLimitRow {
  const perSecond = (throttle.emails * 1_000) / throttle.perMs;
  const { bucket } = refill(null, throttle, now);
  return {
    projectId,
    domain,
    provider: ITSELF,
    perSecond,
    changedAt: now,
    tokens: bucket?.tokens ?? 0,
    refilledAt: now,
  };
}

function createDomainLimits(
  limits: Map<string, Limit>,
  { domain, now }: { domain: string; now: number },
): DomainLimits {
  return {
    limitFor(provider) {
      for (const name of [ITSELF, provider]) {
        const limit = limits.get(name);
        const filled = limit && refill(limit.row, limit.throttle, now);
        if (filled && filled.remaining < 1) {
          const of = name === ITSELF ? 'domain' : 'provider';
          return { of, name: name === ITSELF ? domain : name, nextAt: filled.nextAt };
        }
      }
      return null;
    },
    takeToken(provider) {
      for (const name of [ITSELF, provider]) {
        const limit = limits.get(name);
        const bucket = limit && takeTokens(refill(limit.row, limit.throttle, now).bucket, 1);
        if (limit && bucket)
          limits.set(name, { ...limit, row: { ...limit.row, ...bucket }, isChanged: true });
      }
    },
    changedRows: () => [...limits.values()].flatMap(({ row, isChanged }) => (isChanged ? [row] : [])),
  };
}

/** Returns the warm-up of a domain that is new to mailbox providers. Emails in the test inbox need no warm-up. */
export async function loadWarmup(
  tx: Tx,
  { projectId, sender, now }: LimitsQuery,
): Promise<{ remaining: number; nextAt: number } | null> {
  const domain = sender.signer?.domain;
  if (sender.outlet.kind === 'test_inbox' || !domain || domain.warm || domain.warmupFrom === null)
    return null;
  const { emails, startsAt, endsAt } = warmupDay(domain.warmupFrom, now);
  if (emails === null) return null;
  const counts = await countForWarmup(tx, { projectId, domain: sender.domain, since: startsAt });
  return { remaining: remainingWarmup(emails, counts), nextAt: endsAt };
}

/**
 * The rate at which a mailbox provider accepts emails from a domain. There is no limit until a provider asks for less. Then the rate is
 * halved, and rises by a tenth for each ten minutes without another such request, until there is no limit again.
 */
type Pace = { perSecond: number; changedAt: number };

const FASTEST = 50;
const SLOWEST = 1 / 60;
/** The traffic of a quiet minute does not show which rate is too high, so one deferred email stops no queue. */
const COUNTED_AT_LEAST = 20;
const STEP_MS = 10 * 60_000;
const STEP = 1.1;

/** Returns null if there is no limit. */
export function paceNow(pace: Pace | null, now: number): Throttle | null {
  if (!pace) return null;
  const steps = Math.max(0, Math.floor((now - pace.changedAt) / STEP_MS));
  const perSecond = pace.perSecond * STEP ** steps;
  // Per hour, so that slow paces are whole numbers too.
  return perSecond >= FASTEST ? null : { emails: perSecond * 3_600, perMs: 3_600_000 };
}

/** Halves the pace. Without a previous pace it is half of the traffic of the last minute, but at least ten emails per minute. */
export function slowerPace(
  pace: Pace | null,
  { sentLastMinute, now }: { sentLastMinute: number; now: number },
): Pace {
  const current = paceNow(pace, now);
  const before = current
    ? current.emails / 3_600
    : Math.min(FASTEST, Math.max(sentLastMinute, COUNTED_AT_LEAST) / 60);
  return { perSecond: Math.max(SLOWEST, before / 2), changedAt: now };
}
