type Soon = {
  request: () => void;
  /** Returns true if a queued run was dropped. */
  stop: () => boolean;
};

/** Runs at once, then rests. Calls during the run or the rest run once more after it. */
export function createSoon(run: () => Promise<void>, restMs: number): Soon {
  let rest: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isQueued = false;
  const request = (): void => {
    if (isRunning || rest !== undefined) isQueued = true;
    else void go();
  };
  const go = async (): Promise<void> => {
    isQueued = false;
    isRunning = true;
    try {
      await run();
    } finally {
      isRunning = false;
      rest = setTimeout(wake, restMs);
    }
  };
  const wake = (): void => {
    rest = undefined;
    if (isQueued) void go();
  };
  return {
    request,
    stop() {
      clearTimeout(rest);
      rest = undefined;
      const isDropped = isQueued;
      isQueued = false;
      return isDropped;
    },
  };
}
