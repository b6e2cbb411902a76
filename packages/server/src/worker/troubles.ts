import { backoffMs } from '../base/backoff.ts';

/**
 * Projects whose batches failed for a reason that may pass. Each is left alone for a while that grows, and then tried by
 * itself, so that what is wrong with one is no trouble to its neighbours.
 */
export type Troubles = {
  isOpen(projectId: number, now: number): boolean;
  /** Of these, who may share the next batch: those in front of the first in trouble, which is tried by itself when it is the first. */
  together(projectIds: number[]): number[];
  passed(projectIds: number[]): void;
  /** For how long they are left alone. */
  failed(projectIds: number[], now: number): number;
  /** It blocked the process for so long, so all others get nine times as much time. Returns for how long it is left alone. */
  blocked(projectId: number, now: number, ms: number): number;
};

const PAUSE = { baseMs: 100, maxMs: 5_000 };
const PAUSE_PER_BLOCKED = 9;
const BLOCKED_PAUSE_MAX_MS = 120_000;

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
    failed(projectIds, now) {
      let longest = 0;
      for (const id of projectIds) {
        const attempts = (known.get(id)?.attempts ?? 0) + 1;
        // Many failed together: which of them it was is found by trying each, at once.
        const pause = projectIds.length > 1 ? 0 : backoffMs(attempts, PAUSE, random);
        known.set(id, { attempts: projectIds.length > 1 ? attempts - 1 : attempts, until: now + pause });
        longest = Math.max(longest, pause);
      }
      return longest;
    },
    blocked(projectId, now, ms) {
      const pause = Math.min(ms * PAUSE_PER_BLOCKED, BLOCKED_PAUSE_MAX_MS);
      known.set(projectId, { attempts: known.get(projectId)?.attempts ?? 0, until: now + pause });
      return pause;
    },
  };
}
