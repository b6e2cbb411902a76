type Soon = { request: () => void; stop: () => void };

/** Runs after a short delay, once for all calls until then, and not again before the previous run is done. */
export function createSoon(run: () => Promise<void>, afterMs: number): Soon {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isQueued = false;
  const request = (): void => {
    if (isRunning) isQueued = true;
    // A later call does not extend the delay, or it would never run during many changes.
    else timer ??= setTimeout(() => void go(), afterMs);
  };
  const go = async (): Promise<void> => {
    timer = undefined;
    isRunning = true;
    try {
      await run();
    } finally {
      isRunning = false;
      if (isQueued) {
        isQueued = false;
        request();
      }
    }
  };
  return {
    request,
    stop() {
      clearTimeout(timer);
      timer = undefined;
      isQueued = false;
    },
  };
}
