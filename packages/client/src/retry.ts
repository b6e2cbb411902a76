/** Why an attempt that may be retried failed, and how long the server asked to wait. */
export type Refused = {
  why: 'no_answer' | 'failed' | 'rate_limited' | 'queue_full';
  retryAfterMs: number | null;
};

export type RetryRule = { attempts: number; totalMs: number };
/** `turnedAway`: how many of the attempts met a rate limit or a full queue. */
export type RetryState = { attempts: number; turnedAway: number; elapsedMs: number };

/** True if the server rejected the time of the request, not the request itself. */
export function isTurnedAway({ why }: Refused): boolean {
  return why === 'rate_limited' || why === 'queue_full';
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** A longer wait that the server requests is shortened to this. */
const RETRY_AFTER_MAX_MS = 5 * 60_000;
/** Spreads the retries, so that clients rejected at the same moment do not return together. */
const SPREAD = 0.1;

/**
 * Returns how long to wait before the next attempt, or null to give up: full jitter under a limit that doubles. The wait is never shorter
 * than the server requests. An attempt rejected by a rate limit or a full queue does not count.
 */
export function waitBefore(refused: Refused, rule: RetryRule, state: RetryState): number | null {
  const { retryAfterMs } = refused;
  const { attempts, turnedAway, elapsedMs } = state;
  if (!isTurnedAway(refused) && attempts - turnedAway >= rule.attempts) return null;
  const limitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 16));
  // A wait of zero, or a time that is past by this clock, is ignored: following it would cause retries without a pause.
  const isUnsaid = retryAfterMs === null || retryAfterMs === 0;
  const waitMs = isUnsaid
    ? Math.random() * limitMs
    : Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) * (1 + Math.random() * SPREAD);
  return elapsedMs + waitMs > rule.totalMs ? null : Math.ceil(waitMs);
}

/** Reads `Retry-After` as seconds or as a date; null for anything else. */
export function readRetryAfter(header: string | null, now: number): number | null {
  if (header === null || header.trim() === '') return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
