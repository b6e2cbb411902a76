import type { EventInput, UserInput } from '@beckon/contract';

/** Where a source has come to: small, and JSON. What lies behind one place is the same whoever asks, and whenever. */
export type Place = { [key: string]: string | number | boolean | null };

/** Whatever is brought in, in the order in which it is brought in. */
export type ImportSource = {
  /** Reads on from `after` (null: from the beginning). The same place, the same records behind it, cut in the same way. */
  read(after: Place | null, signal: AbortSignal): AsyncIterable<ImportChunk>;
};

/** What one step brings; users are accepted before events. */
export type ImportChunk = {
  /** At most 1,000, as a bulk request. */
  users: UserInput[];
  /** At most 1,000, as a bulk request. */
  events: EventInput[];
  /** What the source itself could not make a record of; at most 1,000. What the interface refuses is added by the runner. */
  rejected: RejectedRow[];
  /** Behind all of these. */
  place: Place;
  /** How many rows of the source these were, with the rejected. */
  rows: number;
  /** How many bytes of the source, where it has a length. */
  bytes?: number;
  /** Which row of the source each user and each event was, where rows have numbers. */
  userRows?: number[];
  eventRows?: number[];
  /** Facts that the report adds up by name, for example `unmatched_customers`; at most 50 different ones in an import. */
  facts?: { [name: string]: number };
  /** Named ones for the report, for example customers that nobody could be found for; the first 1,000 are kept. */
  notes?: ImportNote[];
};

/** A row that comes to nothing, and why; `raw` is its beginning, for the list of those. `userId`: whose it is, where it says so. */
export type RejectedRow = {
  row: number;
  field: string | null;
  message: string;
  raw: string;
  userId: string | null;
};

/** `kind`: a word of the source's own, for example `unmatched_customer` or `trial_without_reminder`. */
export type ImportNote = { kind: string; subject: string; text: string };

/**
 * The source cannot go on until somebody does something: the import pauses and says so. Whatever else a source throws
 * is tried again from the last place, a few times, and then pauses too.
 */
export class ImportHalt extends Error {
  readonly reason: 'key_refused' | 'permission_missing' | 'busy' | 'unreadable';
  constructor(reason: ImportHalt['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImportHalt';
    this.reason = reason;
  }
}
