import type { FailpointHook } from '../failpoints.ts';
import type { Log } from '../log.ts';
import { atMost } from '../time/within.ts';

/** A periodic background job. Two processes may run it at the same time without harm. */
export type Job = { name: string; everyMs: number; run(stopping: () => boolean): Promise<void> };

export type Timetable = {
  /** Starts no more jobs, and waits up to 5 seconds for those that run. */
  stop(): Promise<void>;
  /** Waits another second for jobs whose connections were closed. */
  settled(): Promise<void>;
};

/** The same time as in the sender. A relay or a website that does not respond keeps a job running for minutes. */
const UNDER_WAY_MS = 5_000;
const CUT_OFF_MS = 1_000;

/** A job is due again after its own end. A failed job is logged and retried at its next time. */
export function startTimetable(jobs: Job[], log: Log, reach?: FailpointHook): Timetable {
  const clock = { stopping: false, timers: new Set<NodeJS.Timeout>(), running: new Set<Promise<void>>() };

  function schedule(job: Job): void {
    const timer = setTimeout(() => {
      clock.timers.delete(timer);
      const running = perform(job).finally(() => clock.running.delete(running));
      clock.running.add(running);
    }, job.everyMs);
    timer.unref();
    clock.timers.add(timer);
  }

  async function perform(job: Job): Promise<void> {
    try {
      reach?.('job_started');
      await job.run(() => clock.stopping);
    } catch (error) {
      log.warn({ job: job.name, err: error }, 'job.failed');
    }
    if (!clock.stopping) schedule(job);
  }

  for (const job of jobs) schedule(job);
  return {
    async stop() {
      clock.stopping = true;
      for (const timer of clock.timers) clearTimeout(timer);
      await atMost(Promise.all(clock.running), UNDER_WAY_MS);
    },
    settled: () => atMost(Promise.all(clock.running), CUT_OFF_MS),
  };
}
