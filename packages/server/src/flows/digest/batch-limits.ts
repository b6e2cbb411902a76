import type { Clock } from '../../base/clock.ts';
import { TooMuchRendering } from '../rules/index.ts';

/**
 * Limits how many records of a project one batch may have, for projects whose batches cost too much lately. Their batches are
 * small, and shared with no other project. All other projects continue as before.
 */
export type BatchLimits = {
  /** Of these, who may share a batch: those in front of the first that is limited, or that one alone. */
  together(projectIds: number[]): number[];
  /** A batch of this project with so many records kept the event loop busy for too long: the next ones have a tenth of them. */
  stalled(projectId: number, records: number): void;
  /** Runs a batch, and runs it again with fewer records where it renders too much. */
  within<T>(projectIds: number[], records: number, run: (batch: LimitedBatch) => Promise<T>): Promise<T>;
};

export type LimitedBatch = { projectIds: number[]; records: number };

/** After this time a full batch is tried again, because the template may have been corrected. */
const LIMITED_FOR_MS = 60_000;

export function createBatchLimits(clock: Clock): BatchLimits {
  const limited = new Map<number, { records: number; until: number }>();

  function limitOf(projectId: number): number {
    const limit = limited.get(projectId);
    if (limit && limit.until <= clock.now()) limited.delete(projectId);
    return limited.get(projectId)?.records ?? Infinity;
  }

  function together(projectIds: number[]): number[] {
    const first = projectIds.findIndex((id) => limitOf(id) < Infinity);
    return first < 0 ? projectIds : projectIds.slice(0, Math.max(first, 1));
  }

  function limit(projectId: number, records: number): void {
    limited.set(projectId, {
      records: Math.max(1, Math.floor(records)),
      until: clock.now() + LIMITED_FOR_MS,
    });
  }

  return {
    together,
    stalled: (projectId, records) => limit(projectId, Math.min(records, limitOf(projectId)) / 10),
    async within(wanted, recordsMax, run) {
      for (;;) {
        const projectIds = together(wanted);
        const records = Math.min(recordsMax, ...projectIds.map(limitOf));
        try {
          return await run({ projectIds, records });
        } catch (error) {
          if (!(error instanceof TooMuchRendering)) throw error;
          // Of a batch of several projects nobody knows how many records were its own: half of what one project may have.
          const share = projectIds.length === 1 ? error.share : Math.min(error.share, 1 / 2);
          limit(error.projectId, Math.min(records, limitOf(error.projectId)) * share);
        }
      }
    },
  };
}
