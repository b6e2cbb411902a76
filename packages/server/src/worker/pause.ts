/** Waits, until told to wait no longer. */
export type Pause = {
  of(ms: number): Promise<void>;
  /** For something else, but no longer than that either. */
  until(settled: Promise<unknown>): Promise<void>;
  end(): void;
};

/**
 * Whoever waits takes himself off when he is done. A race against one promise that is settled at the very end would keep a
 * trace of each wait until then, ten of them a second.
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
