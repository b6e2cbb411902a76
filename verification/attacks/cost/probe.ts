import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ProbeReport, ProbeTask } from './probe-worker.ts';

/** Measures how long `GET /livez` and an event of another project wait while `work` runs. */
export async function probeDuring(task: ProbeTask, work: () => Promise<void>): Promise<ProbeReport> {
  const thread = new Worker(new URL('probe-worker.ts', import.meta.url), { workerData: task });
  try {
    await once(thread, 'online');
    await work();
    const reported = once(thread, 'message');
    thread.postMessage('stop');
    return ((await reported) as [ProbeReport])[0];
  } finally {
    await thread.terminate();
  }
}
