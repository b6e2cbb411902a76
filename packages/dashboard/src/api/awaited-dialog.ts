/**
 * A dialog that API calls wait for. The first call that needs it opens it; all continue when it closes.
 * `subscribe` and `isOpen` are for `useSyncExternalStore`.
 */
export type AwaitedDialog<T> = {
  /** Resolves with what the dialog was closed with. */
  wait: (signal?: AbortSignal) => Promise<T>;
  isOpen: () => boolean;
  subscribe: (listener: () => void) => () => void;
  close: (result: T) => void;
};

export function createAwaitedDialog<T>(): AwaitedDialog<T> {
  const listeners = new Set<() => void>();
  let waiting: PromiseWithResolvers<T> | null = null;
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    async wait(signal) {
      if (!waiting) {
        waiting = Promise.withResolvers();
        notify();
      }
      return Promise.race([waiting.promise, aborted(signal)]);
    },
    isOpen: () => waiting !== null,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close(result) {
      waiting?.resolve(result);
      waiting = null;
      notify();
    },
  };
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
