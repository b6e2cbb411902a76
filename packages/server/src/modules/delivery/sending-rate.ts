import type { Throttle } from '../sending/index.ts';

/**
 * The rate at which a mailbox provider accepts emails from a domain. There is no limit until a provider asks for less. Then the rate is
 * halved, and rises by a tenth for each ten minutes without another such request, until there is no limit again.
 */
export type Pace = { perSecond: number; changedAt: number };

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
  return perSecond >= FASTEST ? null : { letters: perSecond * 3_600, perMs: 3_600_000 };
}

/** Halves the pace. Without a previous pace it is half of the traffic of the last minute, but at least ten emails per minute. */
export function slowed(
  pace: Pace | null,
  { sentLastMinute, now }: { sentLastMinute: number; now: number },
): Pace {
  const known = paceNow(pace, now);
  const before = known
    ? known.letters / 3_600
    : Math.min(FASTEST, Math.max(sentLastMinute, COUNTED_AT_LEAST) / 60);
  return { perSecond: Math.max(SLOWEST, before / 2), changedAt: now };
}
