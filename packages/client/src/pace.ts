import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';

const CHUNK_MIN_RECORDS = 50;
/** The growth per accepted chunk, as a share of the largest chunk: twenty accepted chunks make up for a full queue. */
const CHUNK_GROWTH = 0.05;
/** The growth of the rate per second, so that the upload slowly finds out whether the server can do more. */
const PACE_GROWTH_PER_S = 0.03;

/**
 * Controls the rate of an upload. There is no limit until the server's queue is full. Then the upload pauses for the requested time. It
 * continues with chunks of half the size, at the rate at which the server was seen to process records.
 */
export class Pace {
  readonly #largest: number;
  #chunkRecords: number;
  #perSecond = Number.POSITIVE_INFINITY;
  #pausedUntil = 0;
  #nextAt = 0;
  #begunAt: number | null = null;
  /** When the queue was last full, and how many records were accepted since then. */
  #fullAt: number | null = null;
  #accepted = 0;
  /** Records per millisecond that the server was last seen to process. */
  #workedOff: number | null = null;

  constructor(largest: number) {
    this.#largest = largest;
    this.#chunkRecords = largest;
  }

  get chunkRecords(): number {
    return this.#chunkRecords;
  }

  /** Returns how long to wait before this many records may be sent, and reserves that time for them. */
  reserve(records: number, now: number): number {
    this.#begunAt ??= now;
    const at = Math.max(now, this.#pausedUntil, this.#nextAt);
    this.#nextAt = at + (records / this.#perSecond) * 1_000;
    return at - now;
  }

  accepted(records: number): void {
    this.#accepted += records;
    this.#perSecond += records * PACE_GROWTH_PER_S;
    const grown = this.#chunkRecords + Math.ceil(this.#largest * CHUNK_GROWTH);
    this.#chunkRecords = Math.min(this.#largest, grown);
  }

  /** Rejections during a pause belong to the same full queue, because several requests may be rejected at once. */
  full(now: number, waitMs: number): void {
    const isSame = now < this.#pausedUntil;
    const until = Math.max(this.#pausedUntil, now + waitMs);
    if (!isSame) this.#learn(now);
    this.#pausedUntil = until;
    if (isSame) return;
    this.#chunkRecords = Math.max(
      Math.min(CHUNK_MIN_RECORDS, this.#largest),
      Math.floor(this.#chunkRecords / 2),
    );
    this.#nextAt = until;
    this.#fullAt = now;
    this.#accepted = 0;
  }

  /**
   * Measures the processing rate. The queue was full before and is full now, so the records accepted in between were processed. The time in
   * which the queue was empty does not count. The first time, all records that are no longer queued were processed, if the queue was empty
   * at the start; otherwise it was more.
   */
  #learn(now: number): void {
    const isFirst = this.#fullAt === null;
    const records = isFirst ? this.#accepted - INGEST_QUEUE_MAX_RECORDS : this.#accepted;
    const ms = isFirst ? now - (this.#begunAt ?? now) : now - (this.#fullAt ?? now) - this.#idleMs();
    if (records <= 0 || ms <= 0) return;
    this.#workedOff = records / ms;
    this.#perSecond = this.#workedOff * 1_000;
  }

  /** The part of the last pause in which the queue must have been empty. */
  #idleMs(): number {
    if (this.#workedOff === null || this.#fullAt === null) return 0;
    return Math.max(0, this.#pausedUntil - this.#fullAt - INGEST_QUEUE_MAX_RECORDS / this.#workedOff);
  }
}
