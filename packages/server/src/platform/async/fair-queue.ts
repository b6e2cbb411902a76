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
  slotsPerKey?: number | undefined;
};

/** A bound that is left out does not apply. */
export type FairQueueBounds = {
  /** Turns at the same time. */
  atOnce?: number;
  atOncePerKey?: number;
  /** Callers that wait or have a turn. More are refused. */
  slots?: number;
  slotsPerKey?: number;
};

export class QueueFull extends Error {}

type Waiter = { begin: () => void };
type KeyQueue = { running: number; slotsUsed: number; waiting: Set<Waiter> };

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
  readonly #queues = new Map<QueueKey, KeyQueue>();
  #running = 0;
  /** Taken places. Patient callers take none. */
  #slotsUsed = 0;

  constructor({
    atOnce = Infinity,
    atOncePerKey = Infinity,
    slots = Infinity,
    slotsPerKey = Infinity,
  }: FairQueueBounds) {
    this.#bounds = { atOnce, atOncePerKey, slots, slotsPerKey };
  }

  async enter(key: QueueKey, { signal, isPatient = false, slotsPerKey }: EnterOptions): Promise<() => void> {
    signal?.throwIfAborted();
    if (!isPatient) this.#refuseBeyondBounds(key, slotsPerKey);
    const queue = this.#take(key, isPatient ? 0 : 1);
    const leave = (): void => this.#leave(key, queue, isPatient ? 0 : 1);
    try {
      await this.#wait(queue, signal);
    } catch (error) {
      leave();
      throw error;
    }
    return () => {
      this.#running -= 1;
      queue.running -= 1;
      this.#moveToBack(key, queue);
      leave();
      this.#serve();
    };
  }

  #refuseBeyondBounds(key: QueueKey, slotsPerKey = this.#bounds.slotsPerKey): void {
    const used = this.#queues.get(key)?.slotsUsed ?? 0;
    if (this.#slotsUsed >= this.#bounds.slots || used >= slotsPerKey)
      throw new QueueFull(`The queue is full: ${this.#slotsUsed} slots are taken, ${used} of them by ${key}`);
  }

  #take(key: QueueKey, slots: number): KeyQueue {
    const queue = this.#queues.get(key) ?? { running: 0, slotsUsed: 0, waiting: new Set() };
    this.#queues.set(key, queue);
    this.#slotsUsed += slots;
    queue.slotsUsed += slots;
    return queue;
  }

  #leave(key: QueueKey, queue: KeyQueue, slots: number): void {
    this.#slotsUsed -= slots;
    queue.slotsUsed -= slots;
    if (queue.running === 0 && queue.slotsUsed === 0 && queue.waiting.size === 0) this.#queues.delete(key);
  }

  #wait({ waiting }: KeyQueue, signal: AbortSignal | undefined): Promise<void> {
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
      const queue = this.#queues.get(key);
      const [next] = queue?.waiting ?? [];
      if (!queue || !next) return;
      queue.waiting.delete(next);
      this.#moveToBack(key, queue);
      this.#running += 1;
      queue.running += 1;
      next.begin();
    }
  }

  /** Called when a turn begins and when it ends, so that a key that arrives between the two is served first. */
  #moveToBack(key: QueueKey, queue: KeyQueue): void {
    this.#queues.delete(key);
    this.#queues.set(key, queue);
  }

  /** Returns the first of the waiting keys with the fewest turns. */
  #nextKey(): QueueKey | undefined {
    if (this.#running >= this.#bounds.atOnce) return undefined;
    let found: { key: QueueKey; running: number } | undefined;
    for (const [key, { running, waiting }] of this.#queues) {
      if (waiting.size === 0 || running >= (found?.running ?? this.#bounds.atOncePerKey)) continue;
      if (running === 0) return key;
      found = { key, running };
    }
    return found?.key;
  }
}
