/** What happened to an attempt that may be made again, and how long the server asked to wait. */
export type Refused = {
  why: 'no_answer' | 'failed' | 'rate_limited' | 'queue_full';
  retryAfterMs: number | null;
};

export type RetryRule = { attempts: number; totalMs: number };
/** Of all attempts, how many were turned away. */
export type RetryState = { attempts: number; turnedAway: number; elapsedMs: number };

/** Not what was asked for, but that it was asked now, is refused. */
export function isTurnedAway({ why }: Refused): boolean {
  return why === 'rate_limited' || why === 'queue_full';
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** A server that asks for more is asked again after this. */
const RETRY_AFTER_MAX_MS = 5 * 60_000;
/** So that all who were sent away do not come back in the same moment. */
const SPREAD = 0.1;

/**
 * How long to wait before the next attempt, or null where there is none: full jitter under a limit that doubles. What
 * the server asks for is never undercut, and an attempt that it turned away for its rate does not count as one.
 */
export function waitBefore(refused: Refused, rule: RetryRule, state: RetryState): number | null {
  const { retryAfterMs } = refused;
  const { attempts, turnedAway, elapsedMs } = state;
  if (!isTurnedAway(refused) && attempts - turnedAway >= rule.attempts) return null;
  const limitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 16));
  // None at all, or a moment that is past by this clock, is no advice: who followed it would ask without a pause.
  const isUnsaid = retryAfterMs === null || retryAfterMs === 0;
  const waitMs = isUnsaid
    ? Math.random() * limitMs
    : Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) * (1 + Math.random() * SPREAD);
  return elapsedMs + waitMs > rule.totalMs ? null : Math.ceil(waitMs);
}

/** `Retry-After` in seconds or as a date; null for what is neither. */
export function readRetryAfter(header: string | null, now: number): number | null {
  if (header === null || header.trim() === '') return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
