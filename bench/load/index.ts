import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { LoadPlan, LoadResult } from './plan.ts';
import type { FromWorker, ToWorker } from './worker.ts';

export type { LoadMode, LoadPlan, LoadResult } from './plan.ts';

/** A run in a process of its own, so that it shares no event loop, no heap and no CPU figure with what it measures. */
export type Load = {
  pid: number;
  result: Promise<LoadResult>;
  /** Ends the measured time now; what is under way is still waited for and counted. */
  stop(): void;
};

export function startLoad(plan: LoadPlan): Load {
  const child = fork(join(import.meta.dirname, 'worker.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const tell = (message: ToWorker): void => void child.send(message);
  const result = new Promise<LoadResult>((resolve, reject) => {
    child.on('message', (message: FromWorker) => {
      if ('result' in message) resolve(message.result);
      else reject(new Error(`the load process failed: ${message.error}`));
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`the load process ended with ${code} and told no result`)));
  });
  tell({ plan });
  return { pid: child.pid ?? 0, result, stop: () => tell('stop') };
}

export function runLoad(plan: LoadPlan): Promise<LoadResult> {
  return startLoad(plan).result;
}
