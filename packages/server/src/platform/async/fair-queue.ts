/**
 * Grants turns. Each key (a project, for example) has its own queue. The queues are served round-robin: the key that was served last goes
 * to the back. A key with a turn waits while a key without one does, so one key cannot keep the others waiting.
 */
export type FairQueue = {
  /**
   * Resolves when the caller's turn begins, with the function that ends it. Rejects with `QueueFull`, or with the reason of
   * the signal.
   */
  enter(key: QueueKey, options?: EnterOptions): Promise<() => void>;
  /** Runs the work when its turn begins, and ends the turn when the work succeeds or fails. */
  run<T>(key: QueueKey, work: () => Promise<T>): Promise<T>;
};

type QueueKey = string | number;

export type EnterOptions = {
  /** Ends the waiting. */
  signal?: AbortSignal | undefined;
  /**
   * For a caller that has begun to answer and cannot be refused: it waits regardless of the queue's length, and takes no place from others.
   */
  isPatient?: boolean;
  /** Replaces the bound of the queue for this caller. */
  placesPerKey?: number | undefined;
};

/** A bound that is left out does not apply. */
export type FairQueueBounds = {
  /** Turns at the same time. */
  atOnce?: number;
  atOncePerKey?: number;
  /** Callers that wait or have a turn. More are refused. */
  places?: number;
  placesPerKey?: number;
};

export class QueueFull extends Error {}

type Waiter = { begin: () => void };
type Lane = { running: number; taken: number; waiting: Set<Waiter> };

export function createFairQueue(bounds: FairQueueBounds): FairQueue {
  const queue = new Queue(bounds);
  return {
    enter: (key, options = {}) => queue.enter(key, options),
    async run(key, work) {
      const leave = await queue.enter(key, {});
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}

class Queue {
  readonly #bounds: Required<FairQueueBounds>;
  /** In the order in which they are served. */
  readonly #lanes = new Map<QueueKey, Lane>();
  #running = 0;
  /** Taken places. Patient callers take none. */
  #taken = 0;

  constructor({
    atOnce = Infinity,
    atOncePerKey = Infinity,
    places = Infinity,
    placesPerKey = Infinity,
  }: FairQueueBounds) {
    this.#bounds = { atOnce, atOncePerKey, places, placesPerKey };
  }

  async enter(key: QueueKey, { signal, isPatient = false, placesPerKey }: EnterOptions): Promise<() => void> {
    signal?.throwIfAborted();
    if (!isPatient) this.#refuseBeyondBounds(key, placesPerKey);
    const lane = this.#take(key, isPatient ? 0 : 1);
    const leave = (): void => this.#leave(key, lane, isPatient ? 0 : 1);
    try {
      await this.#wait(lane, signal);
    } catch (error) {
      leave();
      throw error;
    }
    return () => {
      this.#running -= 1;
      lane.running -= 1;
      this.#moveToBack(key, lane);
      leave();
      this.#serve();
    };
  }

  #refuseBeyondBounds(key: QueueKey, placesPerKey = this.#bounds.placesPerKey): void {
    const taken = this.#lanes.get(key)?.taken ?? 0;
    if (this.#taken >= this.#bounds.places || taken >= placesPerKey)
      throw new QueueFull(`The queue is full: ${this.#taken} places are taken, ${taken} of them by ${key}`);
  }

  #take(key: QueueKey, places: number): Lane {
    const lane = this.#lanes.get(key) ?? { running: 0, taken: 0, waiting: new Set() };
    this.#lanes.set(key, lane);
    this.#taken += places;
    lane.taken += places;
    return lane;
  }

  #leave(key: QueueKey, lane: Lane, places: number): void {
    this.#taken -= places;
    lane.taken -= places;
    if (lane.running === 0 && lane.taken === 0 && lane.waiting.size === 0) this.#lanes.delete(key);
  }

  #wait({ waiting }: Lane, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        waiting.delete(waiter);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        begin() {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      waiting.add(waiter);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#serve();
    });
  }

  #serve(): void {
    for (let key = this.#nextKey(); key !== undefined; key = this.#nextKey()) {
      const lane = this.#lanes.get(key);
      const [next] = lane?.waiting ?? [];
      if (!lane || !next) return;
      lane.waiting.delete(next);
      this.#moveToBack(key, lane);
      this.#running += 1;
      lane.running += 1;
      next.begin();
    }
  }

  /** Called when a turn begins and when it ends, so that a key that arrives between the two is served first. */
  #moveToBack(key: QueueKey, lane: Lane): void {
    this.#lanes.delete(key);
    this.#lanes.set(key, lane);
  }

  /** Returns the first of the waiting keys with the fewest turns. */
  #nextKey(): QueueKey | undefined {
    if (this.#running >= this.#bounds.atOnce) return undefined;
    let found: { key: QueueKey; running: number } | undefined;
    for (const [key, { running, waiting }] of this.#lanes) {
      if (waiting.size === 0 || running >= (found?.running ?? this.#bounds.atOncePerKey)) continue;
      if (running === 0) return key;
      found = { key, running };
    }
    return found?.key;
  }
}
