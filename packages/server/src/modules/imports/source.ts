import type { EventInput, UserInput } from '@beckon/contract';

/** A position in a source: a small JSON object. The records after a position are always the same. */
export type SourcePosition = { [key: string]: string | number | boolean | null };

/** A source of records in a fixed order. */
export type ImportSource = {
  /** Reads on after a position, or from the start for null. The same position gives the same records in the same chunks. */
  read(after: SourcePosition | null, signal: AbortSignal): AsyncIterable<ImportChunk>;
};

/** The records of one step. Users are accepted before events. */
export type ImportChunk = {
  /** At most 1,000, like a bulk request. */
  users: UserInput[];
  /** At most 1,000, like a bulk request. */
  events: EventInput[];
  /** Rows that the source could not convert to records, at most 1,000. The runner adds the records that validation rejects. */
  rejected: RejectedRow[];
  /** The position after all of these. */
  position: SourcePosition;
  /** How many rows of the source these are, including the rejected ones. */
  rows: number;
  /** How many bytes of the source these are, if it has a size. */
  bytes?: number;
  /** The row of each user and each event in the source, if rows have numbers. */
  userRows?: number[];
  eventRows?: number[];
  /** Numbers that the report sums by name, such as `unmatched_customers`. An import has at most 50 names. */
  facts?: { [name: string]: number };
  /** Notes for the report, such as customers without a matching user. The first 1,000 are stored. */
  notes?: ImportNote[];
};

/** A rejected row with the reason. `raw` is its start, for the list of findings. `userId` is the user, if the row names one. */
export type RejectedRow = {
  row: number;
  field: string | null;
  message: string;
  raw: string;
  userId: string | null;
};

/** `kind`: a name chosen by the source, such as `unmatched_customer` or `trial_without_reminder`. */
export type ImportNote = { kind: string; subject: string; text: string };

/**
 * Thrown if the source cannot continue without an action by a member. The import pauses and shows the reason. After any other error, the
 * import retries a few times from the last position and then pauses too.
 */
export class ImportHalt extends Error {
  readonly reason: 'key_refused' | 'permission_missing' | 'busy' | 'unreadable';
  constructor(reason: ImportHalt['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImportHalt';
    this.reason = reason;
  }
}
