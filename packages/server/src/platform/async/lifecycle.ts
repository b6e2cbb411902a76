import type { FailpointHook } from '../failpoints.ts';
import type { Log } from '../log.ts';

type Closer = { name: string; close: () => Promise<void> | void };

/** Closers run in reverse order of opening. A closer that fails is reported and does not stop the others. */
export type Lifecycle = {
  onStop(name: string, close: Closer['close']): void;
  stop(): Promise<void>;
};

export function createLifecycle(log: Log, failpoint?: FailpointHook): Lifecycle {
  const closers: Closer[] = [];
  let stopping: Promise<void> | undefined;
  return {
    onStop(name, close) {
      closers.push({ name, close });
    },
    stop() {
      stopping ??= closeAll(closers, log, failpoint);
      return stopping;
    },
  };
}

async function closeAll(closers: Closer[], log: Log, failpoint?: FailpointHook): Promise<void> {
  for (let next = closers.pop(); next; next = closers.pop()) {
    try {
      failpoint?.('stopping');
      await next.close();
    } catch (error) {
      log.error({ component: next.name, err: error }, 'shutdown.failed');
    }
  }
}
