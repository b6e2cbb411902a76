import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';

const CHUNK_MIN_RECORDS = 50;
/** Of the largest chunk, with every one that is taken: twenty of them make up for a queue that was full. */
const CHUNK_GROWTH = 0.05;
/** Of the pace, each second: it finds out slowly whether there is more to be had. */
const PACE_GROWTH_PER_S = 0.03;

/**
 * How fast an upload goes. As fast as it can, until the server's queue is full; then it stops for as long as it is told
 * to, goes on with chunks of half the size, and with no more records a second than the server was seen to work off.
 */
export class Pace {
  readonly #largest: number;
  #chunkRecords: number;
  #perSecond = Number.POSITIVE_INFINITY;
  #pausedUntil = 0;
  #nextAt = 0;
  #begunAt: number | null = null;
  /** When the queue was last known to be full, and what was accepted since. */
  #fullAt: number | null = null;
  #accepted = 0;
  /** Records a millisecond that the server was last seen to work off. */
  #workedOff: number | null = null;

  constructor(largest: number) {
    this.#largest = largest;
    this.#chunkRecords = largest;
  }

  get chunkRecords(): number {
    return this.#chunkRecords;
  }

  /** How long to wait before so many records may leave; they count as having left then. */
  takeTurn(records: number, now: number): number {
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

  /** Several requests may be turned away at once: they are one full queue. */
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
   * Full then and full now: what was accepted in between is what was worked off, but for the time in which nothing was left to do.
   * The first time whatever does not wait any more was worked off, if the queue was empty before; otherwise it was more.
   */
  #learn(now: number): void {
    const isFirst = this.#fullAt === null;
    const records = isFirst ? this.#accepted - INGEST_QUEUE_MAX_RECORDS : this.#accepted;
    const ms = isFirst ? now - (this.#begunAt ?? now) : now - (this.#fullAt ?? now) - this.#idleMs();
    if (records <= 0 || ms <= 0) return;
    this.#workedOff = records / ms;
    this.#perSecond = this.#workedOff * 1_000;
  }

  /** Of the last pause, after a full queue must have run dry. */
  #idleMs(): number {
    if (this.#workedOff === null || this.#fullAt === null) return 0;
    return Math.max(0, this.#pausedUntil - this.#fullAt - INGEST_QUEUE_MAX_RECORDS / this.#workedOff);
  }
}
