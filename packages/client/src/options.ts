import type { BeckonError } from './errors.ts';
import type { TrackedEvent } from './event-types.ts';

export type BeckonOptions = {
  /** `sk_live_…` or `sk_test_…`. Keep it on the server. */
  apiKey: string | undefined;
  /** Where Beckon is, as `https://beckon.example.com`. */
  url: string | undefined;
  /** How long one attempt may take; 30 s. */
  timeoutMs?: number;
  retry?: RetryOptions;
  /** Tracks in the background, many events to a request. */
  batching?: BatchingOptions;
  /** Goes behind this library's own in `User-Agent`, as `acme-worker/1.2.0`. */
  userAgent?: string;
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch;
};

export type RetryOptions = {
  /**
   * How often a request is sent, the first time included; 6, and in the background as often as there is time for. What the
   * server turns away for its rate is not counted.
   */
  attempts?: number;
  /** How long it may take in all, waiting included; 2 minutes. */
  totalMs?: number;
};

export type BatchingOptions = {
  /** So many events leave at once; 100, at most 1,000. */
  maxRecords?: number;
  /** And none waits for company longer; 1 s. */
  maxWaitMs?: number;
  /** More than these do not wait in memory; 10,000. */
  maxQueued?: number;
  /** Gets the events that could not be tracked, and why. `batch` takes them as they are. */
  onError: (error: BeckonError, events: TrackedEvent[]) => void;
};

export type WriteOptions = {
  /** One for each logical write, a UUID v4; made here where left out, and kept over all attempts. */
  idempotencyKey?: string;
  signal?: AbortSignal;
};

export type BatchOptions = WriteOptions & {
  /** History: no rule fires for these events, and their users are quiet until their next normal event. */
  suppressTriggers?: boolean;
};
