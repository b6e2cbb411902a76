/** Waits that can be ended early. */
export type InterruptibleSleep = {
  sleep(ms: number): Promise<void>;
  /** Waits for a promise, but not beyond the end of the pause. */
  waitFor(settled: Promise<unknown>): Promise<void>;
  end(): void;
};

/**
 * Creates a pause. Each wait removes itself when it ends. A race against a promise that is settled only at the very end would leak memory
 * for each wait until then, ten per second.
 */
export function createInterruptibleSleep(): InterruptibleSleep {
  const waiters = new Set<() => void>();
  let isOver = false;

  function wait(begin: (wake: () => void) => void): Promise<void> {
    if (isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        waiters.delete(wake);
        resolve();
      };
      waiters.add(wake);
      begin(wake);
    });
  }

  return {
    async sleep(ms) {
      let timer: NodeJS.Timeout | undefined;
      await wait((wake) => {
        timer = setTimeout(wake, ms);
      });
      clearTimeout(timer);
    },
    waitFor: (settled) => wait((wake) => void settled.then(wake, wake)),
    end() {
      isOver = true;
      for (const wake of waiters) wake();
    },
  };
}

/** Wakes a waiting loop. A wake-up without a waiting loop is kept for the next wait. */
export type WakeUp = { wake(): void; wait(ms: number): Promise<void>; sleep(ms: number): Promise<void> };

export function createWakeUp(): WakeUp {
  let isPending = false;
  let wakeWaiter: (() => void) | null = null;
  function waitAtMost(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(finish, Math.max(0, ms));
      wakeWaiter = finish;
      function finish(): void {
        clearTimeout(timer);
        wakeWaiter = null;
        resolve();
      }
    });
  }
  return {
    wake() {
      isPending = true;
      wakeWaiter?.();
    },
    async wait(ms) {
      if (!isPending) await waitAtMost(ms);
      isPending = false;
    },
    /** A pause that a wake-up does not shorten. */
    sleep: (ms) => (ms > 0 ? new Promise((resolve) => void setTimeout(resolve, ms)) : Promise.resolve()),
  };
}
