import { backoffMs } from '../async/backoff.ts';
import { FAILURE_BACKOFF } from './run-loop.ts';

/**
 * Projects whose batches failed for a reason that may be temporary. Each is paused for a time that grows, and is then tried
 * alone, so that it does not affect other projects.
 */
export type FailureBackoff = {
  isOpen(projectId: number, now: number): boolean;
  /** Returns those of these projects that may share the next batch: all before the first failing one, or that one alone if it is first. */
  selectBatch(projectIds: number[]): number[];
  recordSuccess(projectIds: number[]): void;
  /** Returns for how long they are paused. */
  recordFailure(projectIds: number[], now: number): number;
  /** Pauses a project that blocked the process for `ms`, for nine times as long. Returns for how long it is paused. */
  recordBlock(projectId: number, now: number, ms: number): number;
};

const PAUSE_PER_BLOCKED = 9;
const BLOCKED_PAUSE_MAX_MS = 120_000;

export function createFailureBackoff(random?: () => number): FailureBackoff {
  const failures = new Map<number, { attempts: number; until: number }>();
  return {
    isOpen: (projectId, now) => (failures.get(projectId)?.until ?? 0) <= now,
    selectBatch(projectIds) {
      const firstFailing = projectIds.findIndex((id) => failures.has(id));
      return firstFailing < 0 ? projectIds : projectIds.slice(0, Math.max(firstFailing, 1));
    },
    recordSuccess(projectIds) {
      for (const id of projectIds) failures.delete(id);
    },
    recordFailure(projectIds, now) {
      let longest = 0;
      for (const id of projectIds) {
        const attempts = (failures.get(id)?.attempts ?? 0) + 1;
        // After a joint failure, each project is tried alone without a pause, which shows which of them failed.
        const pause = projectIds.length > 1 ? 0 : backoffMs(attempts, FAILURE_BACKOFF, random);
        failures.set(id, { attempts: projectIds.length > 1 ? attempts - 1 : attempts, until: now + pause });
        longest = Math.max(longest, pause);
      }
      return longest;
    },
    recordBlock(projectId, now, ms) {
      const pause = Math.min(ms * PAUSE_PER_BLOCKED, BLOCKED_PAUSE_MAX_MS);
      failures.set(projectId, { attempts: failures.get(projectId)?.attempts ?? 0, until: now + pause });
      return pause;
    },
  };
}
