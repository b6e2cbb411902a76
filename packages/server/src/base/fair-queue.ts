/** Hands out turns. Each key has its own queue, and the queues are served in rotation, so one key cannot keep the others waiting. */
export type FairQueue = {
  /** Resolves when it is the caller's turn, with the function that ends it. Rejects with `QueueFull`, or with the signal's reason. */
  enter(key: string | number, options?: EnterOptions): Promise<() => void>;
};

export type EnterOptions = {
  /** Gives the place up. */
  signal?: AbortSignal | undefined;
  /** For who has begun to answer and cannot be turned away any more: waits however many wait, and takes no place from others. */
  isPatient?: boolean;
};

export type FairQueueBounds = {
  /** Turns at the same time. */
  atOnce: number;
  atOncePerKey: number;
  /** Callers that wait or have a turn; more are turned away. */
  waitingMax: number;
  waitingMaxPerKey: number;
};

export class QueueFull extends Error {}

type Waiter = { begin: () => void };
type Lane = { running: number; counted: number; waiting: Set<Waiter> };
type Queue = {
  bounds: FairQueueBounds;
  /** In the order in which they are served: a key that got a turn goes to the end. */
  lanes: Map<string | number, Lane>;
  running: number;
  /** Those that wait or have a turn, without the patient ones. */
  counted: number;
};

export function createFairQueue(bounds: FairQueueBounds): FairQueue {
  const queue: Queue = { bounds, lanes: new Map(), running: 0, counted: 0 };
  return {
    async enter(key, { signal, isPatient = false } = {}) {
      signal?.throwIfAborted();
      const leave = takePlace(queue, key, isPatient ? 0 : 1);
      const lane = laneOf(queue, key);
      try {
        await turn(queue, lane, signal);
      } catch (error) {
        leave();
        throw error;
      }
      return () => {
        queue.running -= 1;
        lane.running -= 1;
        leave();
        serve(queue);
      };
    },
  };
}

function takePlace(queue: Queue, key: string | number, places: number): () => void {
  const { bounds } = queue;
  const waits = queue.lanes.get(key)?.counted ?? 0;
  if (places > 0 && (queue.counted >= bounds.waitingMax || waits >= bounds.waitingMaxPerKey))
    throw new QueueFull(`${waits} of ${key} wait, and ${queue.counted} in all`);
  const lane = laneOf(queue, key);
  queue.counted += places;
  lane.counted += places;
  return () => {
    queue.counted -= places;
    lane.counted -= places;
    if (lane.running === 0 && lane.counted === 0 && lane.waiting.size === 0) queue.lanes.delete(key);
  };
}

function laneOf({ lanes }: Queue, key: string | number): Lane {
  const lane = lanes.get(key) ?? { running: 0, counted: 0, waiting: new Set() };
  lanes.set(key, lane);
  return lane;
}

function turn(queue: Queue, { waiting }: Lane, signal: AbortSignal | undefined): Promise<void> {
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
    serve(queue);
  });
}

function serve(queue: Queue): void {
  const { bounds, lanes } = queue;
  for (const [key, lane] of lanes) {
    if (queue.running >= bounds.atOnce) return;
    const [next] = lane.waiting;
    if (!next || lane.running >= bounds.atOncePerKey) continue;
    lane.waiting.delete(next);
    lanes.delete(key);
    lanes.set(key, lane);
    queue.running += 1;
    lane.running += 1;
    next.begin();
  }
}
