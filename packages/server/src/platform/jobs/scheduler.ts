import type { FailpointHook } from '../failpoints.ts';
import type { Log } from '../log.ts';
import { atMost } from '../time/within.ts';

/** A periodic background job. Two processes may run it at the same time without harm. */
export type Job = { name: string; everyMs: number; run(run: JobRun): Promise<void> };

/** `name`: that of the job, for its log lines. */
export type JobRun = { name: string; stopping: AbortSignal };

export type Scheduler = {
  /** Starts no more jobs, and waits up to 5 seconds for those that run. */
  stop(): Promise<void>;
  /** Waits another second for jobs whose connections were closed. */
  settled(): Promise<void>;
};

/** The same time as in the sender. A relay or a website that does not respond keeps a job running for minutes. */
const STOP_WITHIN_MS = 5_000;
const SETTLE_WITHIN_MS = 1_000;

/** A job is due again after its own end. A failed job is logged and retried at its next time. */
export function startScheduler(jobs: Job[], log: Log, failpoint?: FailpointHook): Scheduler {
  const stop = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  const allRunning = new Set<Promise<void>>();

  function schedule(job: Job): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      const running = perform(job).finally(() => allRunning.delete(running));
      allRunning.add(running);
    }, job.everyMs);
    timer.unref();
    timers.add(timer);
  }

  async function perform(job: Job): Promise<void> {
    try {
      failpoint?.('job_started');
      await job.run({ name: job.name, stopping: stop.signal });
    } catch (error) {
      log.warn({ job: job.name, err: error }, 'job.failed');
    }
    if (!stop.signal.aborted) schedule(job);
  }

  for (const job of jobs) schedule(job);
  return {
    async stop() {
      stop.abort();
      for (const timer of timers) clearTimeout(timer);
      await atMost(Promise.all(allRunning), STOP_WITHIN_MS);
    },
    settled: () => atMost(Promise.all(allRunning), SETTLE_WITHIN_MS),
  };
}
