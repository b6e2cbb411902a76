import { sha256 } from '../../base/hash.ts';

/** When a delivery is tried, and when it is given up. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Before each try, from the end of the one before; together some 75 hours. */
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

/** Those that failed together do not come back together. */
const JITTER = 0.2;
/** Answers that may say when to come back. */
const HEEDED = new Set([429, 503]);
/** Whoever asks for more gets so many times what was due anyway. */
const RETRY_AFTER_MOST = 2;

export type Failed = {
  /** Which try of the schedule this was; the first is 1. */
  tries: number;
  endedAt: number;
  /** Null where nobody answered. */
  status: number | null;
  retryAfter: string | null;
};

/** When it is tried again; null: it was tried often enough. `share`: from 0 up to 1, which decides the jitter. */
export function nextAttempt({ tries, endedAt, status, retryAfter }: Failed, share: number): number | null {
  const delay = DELAYS_MS[tries];
  if (delay === undefined) return null;
  const base = Math.round(delay * (1 - JITTER + 2 * JITTER * share));
  const asked = status !== null && HEEDED.has(status) ? readRetryAfter(retryAfter, endedAt) : null;
  return endedAt + Math.min(Math.max(asked ?? base, base), RETRY_AFTER_MOST * base);
}

/** The same for the same try, in whichever process, and another for every other. */
export function jitterShare(messageId: string, endpointId: string, tries: number): number {
  return Number.parseInt(sha256(`${messageId} ${endpointId} ${tries}`).slice(0, 8), 16) / 2 ** 32;
}

const SECONDS = /^\d{1,9}$/;
/** An HTTP date as RFC 9110 wants it written. What `Date` makes of anything else is anybody's guess. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** For how long, in milliseconds; null where it says nothing that can be understood. */
export function readRetryAfter(text: string | null, now: number): number | null {
  const value = text?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * SECOND;
  if (!HTTP_DATE.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
