/**
 * Whether it is worth asking a relay that kept failing. Three failures of the relay itself in a row open the breaker:
 * nothing is handed over for a second, and twice as long after each failed attempt, up to a minute. When that time is
 * over one letter goes first; the others follow once it is through.
 */
export type Breaker = {
  failures: number;
  /** 0 while closed. */
  openUntil: number;
  /** One letter is trying; its failure counts, those of letters that left before it opened do not. */
  probing: boolean;
};

const FAILURES_TO_OPEN = 3;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export const closedBreaker: Breaker = { failures: 0, openUntil: 0, probing: false };

/** Asked for each letter; the breaker it gives back is the one to keep. */
export function askBreaker(breaker: Breaker, now: number): { passes: boolean; breaker: Breaker } {
  if (breaker.openUntil === 0) return { passes: true, breaker };
  if (breaker.openUntil > now) return { passes: false, breaker };
  // Held as long again, so that a probe that never comes back is followed by another.
  return { passes: true, breaker: { ...breaker, openUntil: now + pauseMs(breaker.failures), probing: true } };
}

export function tripped(breaker: Breaker, now: number): Breaker {
  if (breaker.openUntil > now && !breaker.probing) return breaker;
  const failures = breaker.failures + 1;
  const openUntil = failures < FAILURES_TO_OPEN ? 0 : now + pauseMs(failures);
  return { failures, openUntil, probing: false };
}

export function passed(): Breaker {
  return closedBreaker;
}

function pauseMs(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - FAILURES_TO_OPEN, 16));
}
