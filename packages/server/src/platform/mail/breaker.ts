/**
 * A circuit breaker for a relay. Three failures of the relay itself in a row open it, and no email is submitted for a second. The pause
 * doubles after each failed attempt, up to a minute. After the pause one email is a probe; the others follow once it succeeds.
 */
export type Breaker = {
  failures: number;
  /** 0 while closed. */
  openUntil: number;
  /** One email is a probe. Its failure counts; those of emails sent before the breaker opened do not. */
  probing: boolean;
};

const FAILURES_TO_OPEN = 3;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export const closedBreaker: Breaker = { failures: 0, openUntil: 0, probing: false };

/** Called for each email. The caller keeps the returned breaker. */
export function checkBreaker(breaker: Breaker, now: number): { isAllowed: boolean; breaker: Breaker } {
  if (breaker.openUntil === 0) return { isAllowed: true, breaker };
  if (breaker.openUntil > now) return { isAllowed: false, breaker };
  // Paused for as long again, so that a probe that never returns is followed by another.
  return {
    isAllowed: true,
    breaker: { ...breaker, openUntil: now + pauseMs(breaker.failures), probing: true },
  };
}

export function recordFailure(breaker: Breaker, now: number): Breaker {
  if (breaker.openUntil > now && !breaker.probing) return breaker;
  const failures = breaker.failures + 1;
  const openUntil = failures < FAILURES_TO_OPEN ? 0 : now + pauseMs(failures);
  return { failures, openUntil, probing: false };
}

export function recordSuccess(): Breaker {
  return closedBreaker;
}

function pauseMs(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - FAILURES_TO_OPEN, 16));
}
