/** The load process. It receives one plan over its channel, sends the result, and exits. */

import { drive } from './drive.ts';
import type { LoadPlan, LoadResult } from './plan.ts';

export type ToWorker = { plan: LoadPlan } | 'stop';
export type FromWorker = { result: LoadResult } | { error: string };

let stopped = false;

process.on('message', (message: ToWorker) => {
  if (message === 'stop') stopped = true;
  else
    drive(message.plan, () => stopped).then(
      (result) => send({ result }),
      (error: unknown) =>
        send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
});
// The parent process is gone.
process.on('disconnect', () => process.exit());

function send(message: FromWorker): void {
  process.send?.(message, () => process.disconnect?.());
}
