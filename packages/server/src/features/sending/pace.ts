import type { Throttle } from './throttle.ts';

/**
 * How fast a mailbox provider lets a domain write to it. Nothing holds back until a provider asks for less; then the rate is
 * half of what it was, and a tenth more for each ten minutes in which it did not ask again, until it is no limit any more.
 */
export type Pace = { perSecond: number; changedAt: number };

const FASTEST = 50;
const SLOWEST = 1 / 60;
/** What went there in a quiet minute says nothing of what is too much: one letter that was put off stops no queue. */
const COUNTED_AT_LEAST = 20;
const STEP_MS = 10 * 60_000;
const STEP = 1.1;

/** Null: no limit. */
export function paceNow(pace: Pace | null, now: number): Throttle | null {
  if (!pace) return null;
  const steps = Math.max(0, Math.floor((now - pace.changedAt) / STEP_MS));
  const perSecond = pace.perSecond * STEP ** steps;
  // By the hour, so that slow paces are whole numbers too.
  return perSecond >= FASTEST ? null : { letters: perSecond * 3_600, perMs: 3_600_000 };
}

/** Asked for less. Where nothing held back yet it is half of what went there in the last minute, ten letters at the least. */
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
