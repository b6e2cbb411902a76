/** Timers as an argument: tests stop them together with their clock. */
export type TimerScheduler = {
  /** Runs once, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
};

export const systemTimer: TimerScheduler = {
  after(ms, run) {
    const timeout = setTimeout(run, ms);
    return () => clearTimeout(timeout);
  },
};
