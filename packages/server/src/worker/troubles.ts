import { backoffMs } from '../base/backoff.ts';

/**
 * Projects whose batches failed for a reason that may be temporary. Each is paused for a time that grows, and is then tried
 * alone, so that it does not affect other projects.
 */
export type Troubles = {
  isOpen(projectId: number, now: number): boolean;
  /** Of these, the ones that may share the next batch: all before the first in trouble, or that one alone if it comes first. */
  together(projectIds: number[]): number[];
  passed(projectIds: number[]): void;
  /** Returns for how long they are paused. */
  failed(projectIds: number[], now: number, stalledMs?: number): number;
  /** Their batch succeeded, but kept the event loop busy for so long. Returns for how long they are paused. */
  stalled(projectIds: number[], now: number, stalledMs: number): number;
};

const PAUSE = { baseMs: 100, maxMs: 5_000 };
/** A project that keeps the event loop busy has a tenth of the time at most. The rest is for all others. */
const PAUSE_PER_STALL = 9;

export function createTroubles(random?: () => number): Troubles {
  const known = new Map<number, { attempts: number; until: number }>();
  return {
    isOpen: (projectId, now) => (known.get(projectId)?.until ?? 0) <= now,
    together(projectIds) {
      const inTrouble = projectIds.findIndex((id) => known.has(id));
      return inTrouble < 0 ? projectIds : projectIds.slice(0, Math.max(inTrouble, 1));
    },
    passed(projectIds) {
      for (const id of projectIds) known.delete(id);
    },
    failed(projectIds, now, stalledMs = 0) {
      let longest = 0;
      for (const id of projectIds) {
        const attempts = (known.get(id)?.attempts ?? 0) + 1;
        // Many failed together. Which of them it was is found by trying each, at once.
        const isOne = projectIds.length === 1;
        const pause = isOne ? Math.max(backoffMs(attempts, PAUSE, random), stalledMs * PAUSE_PER_STALL) : 0;
        known.set(id, { attempts: isOne ? attempts : attempts - 1, until: now + pause });
        longest = Math.max(longest, pause);
      }
      return longest;
    },
    stalled(projectIds, now, stalledMs) {
      const pause = projectIds.length === 1 ? stalledMs * PAUSE_PER_STALL : 0;
      for (const id of projectIds) known.set(id, { attempts: 0, until: now + pause });
      return pause;
    },
  };
}
