/**
 * What waits for a thread, by key (a project). Round-robin: the key that was served last goes to the back, and a key with a
 * running task waits while other keys do. So one project's queue delays another's task by one task at most.
 */
export type FairQueue<T> = {
  /** False where too many wait already. */
  add(key: string, task: T, ofOneMax: number): boolean;
  next(): { key: string; task: T } | undefined;
  /** The task of this key that `next` gave is over. */
  ended(key: string): void;
  clear(): T[];
};

export function createFairQueue<T>(waitingMax: number): FairQueue<T> {
  const waiting = new Map<string, T[]>();
  const running = new Map<string, number>();
  /** In which order keys were served; kept as long as a key has a task. */
  const servedAt = new Map<string, number>();
  let [count, served] = [0, 0];

  function pick(): string | undefined {
    const keys = [...waiting.keys()];
    const idle = keys.filter((key) => !running.has(key));
    const candidates = idle.length > 0 ? idle : keys;
    let first = candidates[0];
    for (const key of candidates)
      if ((servedAt.get(key) ?? 0) < (servedAt.get(first ?? key) ?? 0)) first = key;
    return first;
  }

  return {
    add(key, task, ofOneMax) {
      const own = waiting.get(key) ?? [];
      if (count >= waitingMax || own.length >= ofOneMax) return false;
      own.push(task);
      waiting.set(key, own);
      count += 1;
      return true;
    },
    next() {
      const key = pick();
      const own = key === undefined ? undefined : waiting.get(key);
      const task = own?.shift();
      if (key === undefined || own === undefined || task === undefined) return undefined;
      count -= 1;
      if (own.length === 0) waiting.delete(key);
      served += 1;
      servedAt.set(key, served);
      running.set(key, (running.get(key) ?? 0) + 1);
      return { key, task };
    },
    ended(key) {
      const left = (running.get(key) ?? 1) - 1;
      if (left > 0) running.set(key, left);
      else running.delete(key);
      if (left <= 0 && !waiting.has(key)) servedAt.delete(key);
    },
    clear() {
      const all = [...waiting.values()].flat();
      waiting.clear();
      count = 0;
      return all;
    },
  };
}
