import type { Log, LogEvent } from '../log.ts';

/**
 * Collects values in memory by key and writes them together, for values that may be late but should not cost a statement each. A crash
 * loses the last few seconds, so acknowledged data must not be stored here.
 */
export type WriteBehind<V> = {
  /** Returns the waiting entry, to change it in place. */
  pending(key: string): V | undefined;
  add(key: string, value: V): void;
  /** Writes all entries that were added before the call. If the write fails, they are kept for the next one. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

export type WriteBehindOptions<V> = {
  everyMs: number;
  /** Above this number, entries with new keys are dropped until the next write. */
  entriesMax: number;
  write(values: V[]): Promise<void>;
  /** Merges an entry whose write failed with a newer one of the same key. */
  merge(older: V, newer: V): V;
  log: Log;
  /** The name of the event that is logged when a write fails. */
  failedEvent: LogEvent<'warn'>;
};

export function writeBehind<V>(options: WriteBehindOptions<V>): WriteBehind<V> {
  let waiting = new Map<string, V>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let last: Promise<void> = Promise.resolve();

  function schedule(): void {
    if (timer || closed) return;
    timer = setTimeout(() => void flush(), options.everyMs);
    timer.unref();
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    last = last.then(writeWaiting);
    return last;
  }

  async function writeWaiting(): Promise<void> {
    if (waiting.size === 0) return;
    const batch = waiting;
    waiting = new Map();
    try {
      await options.write([...batch.values()]);
    } catch (error) {
      options.log.warn({ err: error, entries: batch.size }, options.failedEvent);
      for (const [key, older] of batch) {
        const newer = waiting.get(key);
        waiting.set(key, newer ? options.merge(older, newer) : older);
      }
      schedule();
    }
  }

  return {
    pending: (key) => waiting.get(key),
    add(key, value) {
      if (waiting.size >= options.entriesMax && !waiting.has(key)) return;
      waiting.set(key, value);
      schedule();
    },
    flush,
    close() {
      closed = true;
      return flush();
    },
  };
}
