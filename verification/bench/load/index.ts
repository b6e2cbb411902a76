import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { LoadPlan, LoadResult } from './plan.ts';
import type { FromWorker, ToWorker } from './worker.ts';

export type { LoadMode, LoadPlan, LoadResult } from './plan.ts';

/** A load generator in a process of its own, so that it shares no event loop, heap or CPU figure with the measured process. */
export type Load = {
  pid: number;
  result: Promise<LoadResult>;
  /** Ends the measured time now. Requests under way are still awaited and counted. */
  stop(): void;
};

export function startLoad(plan: LoadPlan): Load {
  const child = fork(join(import.meta.dirname, 'worker.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const send = (message: ToWorker): void => void child.send(message);
  const result = new Promise<LoadResult>((resolve, reject) => {
    child.on('message', (message: FromWorker) => {
      if ('result' in message) resolve(message.result);
      else reject(new Error(`the load process failed: ${message.error}`));
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`the load process ended with ${code} without a result`)));
  });
  send({ plan });
  return { pid: child.pid ?? 0, result, stop: () => send('stop') };
}

export function runLoad(plan: LoadPlan): Promise<LoadResult> {
  return startLoad(plan).result;
}
