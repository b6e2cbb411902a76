/** Runs at most `count` tasks at a time, first come, first served. */
export type Slots = { use<T>(work: () => Promise<T>): Promise<T> };

export function createSlots(count: number): Slots {
  const queue: (() => void)[] = [];
  let free = count;
  return {
    async use(work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
