/** Finds out for how long a piece of work kept the event loop from everything else. */
export type StallWatch = { longestMs(): number; end(): void };

const LOOK_EVERY_MS = 250;
const STALL_MS = 1_000;

/** A batch that took longer without waiting is one that no limit stopped. */
export function isStall(ms: number): boolean {
  return ms >= STALL_MS;
}

/**
 * Measures the processor time that this thread uses between two turns of a timer. So waiting does not count, neither for the
 * database nor for a processor that others use. Other work of this thread counts, since the two cannot be told apart.
 */
export function watchStalls(usedMs: () => number = threadMs): StallWatch {
  let longest = 0;
  let lookedAt = usedMs();
  function look(): void {
    const at = usedMs();
    longest = Math.max(longest, at - lookedAt);
    lookedAt = at;
  }
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    longestMs() {
      look();
      return longest;
    },
    end: () => clearInterval(timer),
  };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
