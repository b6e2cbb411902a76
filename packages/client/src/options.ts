import type { BeckonError } from './errors.ts';
import type { TrackedEvent } from './event-types.ts';

export type BeckonOptions = {
  /** `sk_live_…` or `sk_test_…`. Keep it on the server. */
  apiKey: string | undefined;
  /** The address of Beckon, such as `https://beckon.example.com`. */
  url: string | undefined;
  /** The time limit of one attempt; default: 30 s. */
  timeoutMs?: number;
  retry?: RetryOptions;
  /** Sends events in the background, many in each request. */
  batching?: BatchingOptions;
  /** Appended to the `User-Agent` of this library, such as `acme-worker/1.2.0`. */
  userAgent?: string;
  /** Used instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
};

export type RetryOptions = {
  /**
   * How often a request is sent at most. Default: 6; in the background, limited by time alone. Attempts that a rate limit or a full queue
   * rejects do not count.
   */
  attempts?: number;
  /** The time limit of a request with all retries and waits; default: 2 minutes. */
  totalMs?: number;
};

export type BatchingOptions = {
  /** Events per request; default: 100, maximum: 1,000. */
  maxRecords?: number;
  /** How long an event waits for others at most; default: 1 s. */
  maxWaitMs?: number;
  /** How many events wait in memory at most; default: 10,000. */
  maxQueued?: number;
  /** Gets the events that could not be tracked, for `batch`, and the error. */
  onError: (error: BeckonError, events: TrackedEvent[]) => void;
};

export type WriteOptions = {
  /** One key per logical write, kept over all attempts. Default: a new UUID v4. */
  idempotencyKey?: string;
  signal?: AbortSignal;
};

export type BatchOptions = WriteOptions & {
  /** History: no rule fires for these events, and for their users until their next normal event. */
  suppressTriggers?: boolean;
};
