/** Limits concurrency: at most `count` callers have a slot, and the others wait in their order. */
export type Slots = {
  /** Does the work in a slot. Rejects without doing it if no slot is given. */
  use<T>(work: () => Promise<T>): Promise<T>;
  /** Takes a slot. Resolves to false if too many wait already, or after `close`. */
  take: () => Promise<boolean>;
  free: () => void;
  /** Gives no more slots, not even to those that wait. Resolves when no slot is taken. */
  close(): Promise<void>;
};

export function createSlots(count: number, waitingMax = Infinity): Slots {
  const waiting: ((isGiven: boolean) => void)[] = [];
  const empty = Promise.withResolvers<void>();
  let used = 0;
  let isClosed = false;

  function takeFree(): boolean {
    if (isClosed || used >= count) return false;
    used += 1;
    return true;
  }

  async function waitForSlot(): Promise<boolean> {
    if (isClosed || waiting.length >= waitingMax) return false;
    return new Promise((resolve) => waiting.push(resolve));
  }

  function free(): void {
    const next = waiting.shift();
    if (next) return next(true);
    used -= 1;
    if (isClosed && used === 0) empty.resolve();
  }

  return {
    async use(work) {
      if (!takeFree() && !(await waitForSlot())) throw new Error('No slot is free');
      try {
        return await work();
      } finally {
        free();
      }
    },
    take: async () => takeFree() || waitForSlot(),
    free,
    close() {
      isClosed = true;
      for (const next of waiting.splice(0)) next(false);
      if (used === 0) empty.resolve();
      return empty.promise;
    },
  };
}
