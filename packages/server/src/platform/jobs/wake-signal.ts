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
