/** Limits concurrency; the others wait in a queue, which is bounded and ends on close. */
export type Slots = {
  /** Resolves to false if too many wait already, or after close. */
  take: () => Promise<boolean>;
  free: () => void;
  /** Rejects all that wait, and resolves when no slot is taken. */
  close: () => Promise<void>;
};

const WAITING_MAX = 1_000;

export function createSlots(count: number): Slots {
  const waiting: ((mayEnter: boolean) => void)[] = [];
  const empty = Promise.withResolvers<void>();
  let taken = 0;
  let closed = false;

  return {
    async take() {
      if (closed || waiting.length >= WAITING_MAX) return false;
      if (taken >= count) return new Promise((resolve) => waiting.push(resolve));
      taken += 1;
      return true;
    },
    free() {
      const next = waiting.shift();
      if (next) return next(true);
      taken -= 1;
      if (closed && taken === 0) empty.resolve();
    },
    close() {
      closed = true;
      for (const next of waiting.splice(0)) next(false);
      if (taken === 0) empty.resolve();
      return empty.promise;
    },
  };
}
