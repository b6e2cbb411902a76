type Soon = { ask: () => void; stop: () => void };

/** Runs a little later, once for all who asked for it until then; and not again before what it began is done. */
export function createSoon(run: () => Promise<void>, afterMs: number): Soon {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isWanted = false;
  const ask = (): void => {
    if (isRunning) isWanted = true;
    // Whoever asks later does not put it off, or it would never run while much happens.
    else timer ??= setTimeout(() => void go(), afterMs);
  };
  const go = async (): Promise<void> => {
    timer = undefined;
    isRunning = true;
    try {
      await run();
    } finally {
      isRunning = false;
      if (isWanted) {
        isWanted = false;
        ask();
      }
    }
  };
  return {
    ask,
    stop() {
      clearTimeout(timer);
      timer = undefined;
      isWanted = false;
    },
  };
}
