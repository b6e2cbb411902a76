/** Runs short synchronous tasks in order. After 10 ms of them in one turn of the event loop, the next one waits for another turn. */
export type TimeSlices = { run<T>(task: () => T): Promise<T> };

const SLICE_MS = 10;

export function createTimeSlices(nowMs: () => number): TimeSlices {
  const waiting: (() => void)[] = [];
  let usedMs = 0;
  let hasNextTurn = false;

  function runWaiting(): void {
    while (usedMs < SLICE_MS) {
      const task = waiting.shift();
      if (!task) return;
      const startedAt = nowMs();
      task();
      usedMs += nowMs() - startedAt;
    }
  }

  /** Timers and sockets run before an immediate that was set in this turn. */
  function planNextTurn(): void {
    if (hasNextTurn) return;
    hasNextTurn = true;
    setImmediate(() => {
      hasNextTurn = false;
      usedMs = 0;
      if (waiting.length === 0) return;
      runWaiting();
      planNextTurn();
    });
  }

  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(task());
          } catch (error) {
            reject(error);
          }
        });
        runWaiting();
        planNextTurn();
      }),
  };
}
