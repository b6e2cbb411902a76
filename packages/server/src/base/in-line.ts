/** The work of one key goes one after the other, in the order in which it came; nobody waits for another key. */
export type InLine = <T>(key: string | number, work: () => Promise<T>) => Promise<T>;

export type LineBounds = {
  /** Of all keys together, those at work among them; whoever comes on top of them is sent away by an error. */
  waitingMax: number;
  /** Of one key: so that one that asks much does not take the places of the others. As many as of all, unless said. */
  waitingMaxOfOne?: number;
};

/** `last`: when the last of them is through. */
type Queue = { waiting: number; last: Promise<void> };

export function createLine({ waitingMax, waitingMaxOfOne = waitingMax }: LineBounds): InLine {
  const queues = new Map<string | number, Queue>();
  let waiting = 0;
  return async (key, work) => {
    const queue = queues.get(key) ?? { waiting: 0, last: Promise.resolve() };
    if (waiting >= waitingMax) throw new Error(`${waitingMax} wait in line`);
    if (queue.waiting >= waitingMaxOfOne) throw new Error(`${waitingMaxOfOne} of ${key} wait in line`);
    const before = queue.last;
    const end = Promise.withResolvers<void>();
    queue.last = end.promise;
    queue.waiting += 1;
    queues.set(key, queue);
    waiting += 1;
    try {
      await before;
      return await work();
    } finally {
      waiting -= 1;
      queue.waiting -= 1;
      end.resolve();
      if (queue.waiting === 0) queues.delete(key);
    }
  };
}
