/** Waits that can be ended early. */
export type Pause = {
  of(ms: number): Promise<void>;
  /** Waits for a promise, but not beyond the end of the pause. */
  until(settled: Promise<unknown>): Promise<void>;
  end(): void;
};

/**
 * Creates a pause. Each wait removes itself when it ends. A race against a promise that is settled only at the very end would leak memory
 * for each wait until then, ten per second.
 */
export function createPause(): Pause {
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
