import type { FailpointHook } from '../failpoints.ts';
import type { DueQueries, WatchedWork, WorkWatch } from './work-watch.ts';
import type { Log } from '../log.ts';
import { atMost } from '../time/within.ts';

/** A periodic background job. Two processes may run it at the same time without harm. */
export type Job = {
  name: string;
  everyMs: number;
  /** Queries for the work of the job. While there is none, the job runs every ten seconds only. */
  work?: DueQueries;
  run(run: JobRun): Promise<void>;
};

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

/** The time between two runs of a job whose work is watched, while there is none. */
const WITHOUT_WORK_MS = 10_000;

type SchedulerOptions = { log: Log; watch?: WorkWatch; failpoint?: FailpointHook | undefined };
type WatchedJob = { job: Job; watched: WatchedWork | undefined };

/** A job is due again after its own end. A failed job is logged and retried at its next time. */
export function startScheduler(jobs: Job[], { log, watch, failpoint }: SchedulerOptions): Scheduler {
  const stop = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  const allRunning = new Set<Promise<void>>();

  function after(ms: number, then: () => void): () => void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      then();
    }, ms);
    timer.unref();
    timers.add(timer);
    return () => {
      clearTimeout(timer);
      timers.delete(timer);
    };
  }

  function schedule(entry: WatchedJob): void {
    after(entry.job.everyMs, () => (entry.watched ? startWhenDue(entry, entry.watched) : start(entry)));
  }

  function startWhenDue(entry: WatchedJob, watched: WatchedWork): void {
    const startOnce = (): void => {
      unfollow();
      cancel();
      if (!stop.signal.aborted) start(entry);
    };
    const unfollow = watched.follow(startOnce, entry.job.everyMs);
    const cancel = after(WITHOUT_WORK_MS, startOnce);
  }

  function start(entry: WatchedJob): void {
    const running = perform(entry).finally(() => allRunning.delete(running));
    allRunning.add(running);
  }

  async function perform(entry: WatchedJob): Promise<void> {
    const { job } = entry;
    try {
      failpoint?.('job_started');
      await job.run({ name: job.name, stopping: stop.signal });
    } catch (error) {
      log.warn({ job: job.name, err: error }, 'job.failed');
    }
    if (!stop.signal.aborted) schedule(entry);
  }

  for (const job of jobs) schedule({ job, watched: job.work && watch?.add(job.work) });
  return {
    async stop() {
      stop.abort();
      for (const timer of timers) clearTimeout(timer);
      await atMost(Promise.all(allRunning), STOP_WITHIN_MS);
    },
    settled: () => atMost(Promise.all(allRunning), SETTLE_WITHIN_MS),
  };
}
