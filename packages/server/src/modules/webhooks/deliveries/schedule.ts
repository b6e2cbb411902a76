import { sha256 } from '../../../platform/crypto/hash.ts';

/** Decides when a delivery is attempted, and when it is given up. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The delay before each try, from the end of the previous one. Together about 75 hours. */
export const DELAYS_MS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
export const TRIES_MAX = DELAYS_MS.length;

/** Spreads deliveries that failed together, so that they are not retried together. */
const JITTER = 0.2;
/** Status codes for which Retry-After is respected. */
const HEEDED = new Set([429, 503]);
/** Retry-After can multiply the scheduled delay by this at most. */
const RETRY_AFTER_MOST = 2;

export type FailedAttempt = {
  /** The number of the try within the schedule, starting with 1. */
  tries: number;
  endedAt: number;
  /** Null if there was no response. */
  status: number | null;
  retryAfter: string | null;
};

/** Returns when it is tried again, or null after the last try. `share`: a number from 0 to just below 1 that determines the jitter. */
export function nextAttempt(
  { tries, endedAt, status, retryAfter }: FailedAttempt,
  share: number,
): number | null {
  const delay = DELAYS_MS[tries];
  if (delay === undefined) return null;
  const base = Math.round(delay * (1 - JITTER + 2 * JITTER * share));
  const requestedMs = status !== null && HEEDED.has(status) ? readRetryAfter(retryAfter, endedAt) : null;
  return endedAt + Math.min(Math.max(requestedMs ?? base, base), RETRY_AFTER_MOST * base);
}

/** Returns the same number for the same try in every process, and a different one for every other try. */
export function jitterShare(webhookId: string, endpointId: string, tries: number): number {
  return Number.parseInt(sha256(`${webhookId} ${endpointId} ${tries}`).slice(0, 8), 16) / 2 ** 32;
}

const SECONDS = /^\d{1,9}$/;
/** An HTTP date in the form that RFC 9110 requires. `Date` parses other forms unpredictably. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Returns the delay in milliseconds, or null if the header cannot be understood. */
export function readRetryAfter(text: string | null, now: number): number | null {
  const value = text?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * SECOND;
  if (!HTTP_DATE.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
