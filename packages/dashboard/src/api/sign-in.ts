/**
 * A session that ended while somebody works must cost them nothing: calls that meet it wait here, the page shows the sign-in
 * dialog above itself, and all of them are made again behind it.
 */
export type SignIn = {
  /** Resolves when somebody has signed in. */
  again: (signal?: AbortSignal) => Promise<void>;
  /** Is somebody waiting? For `useSyncExternalStore`. */
  isWanted: () => boolean;
  subscribe: (heard: () => void) => () => void;
  done: () => void;
  /** A call was refused for the role of whoever made it: they may less than the page thinks. */
  mayLess: () => void;
};

export function createSignIn(onLess: () => void = () => {}): SignIn {
  const listeners = new Set<() => void>();
  let waiting: PromiseWithResolvers<void> | null = null;
  const tell = (): void => {
    for (const heard of listeners) heard();
  };
  return {
    async again(signal) {
      if (!waiting) {
        waiting = Promise.withResolvers();
        tell();
      }
      await Promise.race([waiting.promise, aborted(signal)]);
    },
    isWanted: () => waiting !== null,
    subscribe(heard) {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    done() {
      waiting?.resolve();
      waiting = null;
      tell();
    },
    mayLess: onLess,
  };
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
