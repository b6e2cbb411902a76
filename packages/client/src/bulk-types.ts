import type { BulkError } from '@beckon/contract';

export type BulkOptions<Item> = {
  onProgress?: (progress: BulkProgress) => void;
  /**
   * Called for every chunk in order, once the chunk and all before it are answered. Later chunks wait for the returned promise. Reported
   * chunks need not be sent again.
   */
  onChunk?: (chunk: BulkChunk<Item>) => void | Promise<void>;
  signal?: AbortSignal;
  /** Records per request. Default and maximum: 1,000. */
  chunkRecords?: number;
  /** Concurrent requests; default: 2. Two requests that name the same user never run at the same time. */
  concurrency?: number;
  /** Derives the key from the position of a chunk, for keys that must be the same on the next run. Default: a random key. */
  idempotencyKey?: (chunk: { first: number; records: number }) => string;
  /** How long a chunk may be rejected or unanswered before the upload fails; default: 15 minutes. */
  patienceMs?: number;
};

export type EventsBulkOptions<Item> = BulkOptions<Item> & {
  /** History: no rule fires for these events, and for their users until their next normal event. */
  suppressTriggers?: boolean;
};

export type BulkProgress = {
  received: number;
  accepted: number;
  rejected: number;
  /** `queue_full`: the ingest queue of the project is full, and the upload pauses for `waitMs`. */
  state: 'sending' | 'queue_full' | 'rate_limited' | 'retrying';
  waitMs: number;
};

/** A rejected record. `index` counts from the first record of the whole upload. */
export type Rejection<Item> = BulkError & { item: Item };

export type BulkChunk<Item> = {
  first: number;
  records: number;
  accepted: number;
  rejected: Rejection<Item>[];
  items: Item[];
};

export type BulkReport = {
  received: number;
  accepted: number;
  rejected: number;
  /** The first 1,000 errors. `onChunk` gets all of them, each with its record. */
  errors: BulkError[];
};
