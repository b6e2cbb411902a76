import type { BulkError } from '@beckon/contract';

export type BulkOptions<Item> = {
  onProgress?: (progress: BulkProgress) => void;
  /**
   * Hears of every chunk once it and all before it are answered, in their order; the next ones wait for its promise.
   * What it was told of need not be sent again.
   */
  onChunk?: (chunk: BulkChunk<Item>) => void | Promise<void>;
  signal?: AbortSignal;
  /** Records to a request; 1,000, and no more. */
  chunkRecords?: number;
  /** Requests on their way at once; 2. Two that name the same user never are. */
  concurrency?: number;
  /** Made of a chunk's place, where it has to be the same on the next run; a random one otherwise. */
  idempotencyKey?: (chunk: { first: number; records: number }) => string;
  /** How long one chunk may be refused or unanswered before the upload fails; 15 minutes. */
  patienceMs?: number;
};

export type EventsBulkOptions<Item> = BulkOptions<Item> & {
  /** History: no rule fires for these events, and their users are quiet until their next normal event. */
  suppressTriggers?: boolean;
};

export type BulkProgress = {
  received: number;
  accepted: number;
  rejected: number;
  /** `queue_full`: the server has as much waiting as it takes, and so does this upload for `waitMs`. */
  state: 'sending' | 'queue_full' | 'rate_limited' | 'retrying';
  waitMs: number;
};

/** A record that was not taken. `index` counts from the first of the whole upload. */
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
  /** The first thousand; all of them, each with its record, go through `onChunk`. */
  errors: BulkError[];
};
