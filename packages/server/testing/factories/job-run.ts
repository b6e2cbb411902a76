import type { JobRun } from '../../src/platform/jobs/scheduler.ts';

/** A run of a job without a scheduler. It is stopped as soon as `isStopping` returns true, and never by default. */
export function jobRun(isStopping: () => boolean = () => false): JobRun {
  const { signal } = new AbortController();
  return { name: 'tested', stopping: Object.defineProperty(signal, 'aborted', { get: isStopping }) };
}
