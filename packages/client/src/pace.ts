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
  /** When the queue was last known to be full, and what was accepted since. */
  #fullAt: number | null = null;
  #accepted = 0;

  constructor(largest: number) {
    this.#largest = largest;
    this.#chunkRecords = largest;
  }

  get chunkRecords(): number {
    return this.#chunkRecords;
  }

  /** How long to wait before so many records may leave; they count as having left then. */
  takeTurn(records: number, now: number): number {
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
    this.#pausedUntil = Math.max(this.#pausedUntil, now + waitMs);
    if (isSame) return;
    this.#chunkRecords = Math.max(
      Math.min(CHUNK_MIN_RECORDS, this.#largest),
      Math.floor(this.#chunkRecords / 2),
    );
    // Full then and full now: what was accepted in between is what was worked off. Before, nobody knows how full it was.
    if (this.#fullAt !== null && this.#accepted > 0 && now > this.#fullAt)
      this.#perSecond = (this.#accepted / (now - this.#fullAt)) * 1_000;
    this.#nextAt = this.#pausedUntil;
    this.#fullAt = now;
    this.#accepted = 0;
  }
}
