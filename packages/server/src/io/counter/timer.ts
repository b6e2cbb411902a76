/** Things to come, as an argument: tests hold it still together with their clock. */
export type Timer = {
  /** Runs once, unless what is given back is called before. */
  after(ms: number, run: () => void): () => void;
};

export const systemTimer: Timer = {
  after(ms, run) {
    const timeout = setTimeout(run, ms);
    return () => clearTimeout(timeout);
  },
};
