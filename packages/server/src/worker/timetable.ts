import type { Reach } from '../base/crash-points.ts';
import type { Log } from '../base/log.ts';
import { atMost } from '../base/within.ts';

/** Something that is due again and again, and does no harm if two processes do it at once. */
export type Job = { name: string; everyMs: number; run(stopping: () => boolean): Promise<void> };

export type Timetable = {
  /** Begins none of them any more, and waits for those under way, but not for ever. */
  stop(): Promise<void>;
  /** A moment more, for who was waiting for something that is closed by now. */
  settled(): Promise<void>;
};

/** As long as the sender waits: a relay or a site that does not answer keeps a duty for minutes. */
const UNDER_WAY_MS = 5_000;
const CUT_OFF_MS = 1_000;

/** Each duty waits for its own end before it is due again; a failed one is reported and tried at its next time. */
export function startTimetable(jobs: Job[], log: Log, reach?: Reach): Timetable {
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
