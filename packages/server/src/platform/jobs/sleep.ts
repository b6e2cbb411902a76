/** Waits that can be ended early. */
export type InterruptibleSleep = {
  of(ms: number): Promise<void>;
  /** Waits for a promise, but not beyond the end of the pause. */
  until(settled: Promise<unknown>): Promise<void>;
  end(): void;
};

/**
 * Creates a pause. Each wait removes itself when it ends. A race against a promise that is settled only at the very end would leak memory
 * for each wait until then, ten per second.
 */
export function createPause(): InterruptibleSleep {
  const waiting = new Set<() => void>();
  let isOver = false;

  function wait(begin: (letGo: () => void) => void): Promise<void> {
    if (isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const letGo = (): void => {
        waiting.delete(letGo);
        resolve();
      };
      waiting.add(letGo);
      begin(letGo);
    });
  }

  return {
    async of(ms) {
      let timer: NodeJS.Timeout | undefined;
      await wait((letGo) => {
        timer = setTimeout(letGo, ms);
      });
      clearTimeout(timer);
    },
    until: (settled) => wait((letGo) => void settled.then(letGo, letGo)),
    end() {
      isOver = true;
      for (const letGo of waiting) letGo();
    },
  };
}

/** Wakes a waiting loop. A wake-up without a waiting loop is kept for the next wait. */
export type Bell = { ring(): void; wait(ms: number): Promise<void>; rest(ms: number): Promise<void> };

export function createBell(): Bell {
  let rung = false;
  let heard: (() => void) | null = null;
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, Math.max(0, ms));
      heard = done;
      function done(): void {
        clearTimeout(timer);
        heard = null;
        resolve();
      }
    });
  }
  return {
    ring() {
      rung = true;
      heard?.();
    },
    async wait(ms) {
      if (!rung) await pause(ms);
      rung = false;
    },
    /** A pause that a wake-up does not shorten. */
    rest: (ms) => (ms > 0 ? new Promise((resolve) => void setTimeout(resolve, ms)) : Promise.resolve()),
  };
}
