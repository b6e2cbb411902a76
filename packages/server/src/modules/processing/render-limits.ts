import type { Clock } from '../../platform/time/clock.ts';
import { TooMuchRendering } from '../rules/index.ts';

/**
 * Limits the records per batch of projects whose recent batches rendered too much. Their batches are small and not shared; every other
 * project continues as before.
 */
export type RenderLimits = {
  /** Returns the projects that may share a batch: those before the first limited one, or that one alone. */
  together(projectIds: number[]): number[];
  /** Runs a batch, and repeats it with fewer records if it renders too much. */
  within<T>(projectIds: number[], records: number, run: (batch: LimitedBatch) => Promise<T>): Promise<T>;
};

export type LimitedBatch = { projectIds: number[]; records: number };

/** After this time a full batch is tried again, because the template may have been fixed. */
const LIMITED_FOR_MS = 60_000;

export function createRenderLimits(clock: Clock): RenderLimits {
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

  return {
    together,
    async within(wanted, recordsMax, run) {
      for (;;) {
        const projectIds = together(wanted);
        const records = Math.min(recordsMax, ...projectIds.map(limitOf));
        try {
          return await run({ projectIds, records });
        } catch (error) {
          if (!(error instanceof TooMuchRendering)) throw error;
          // In a batch of several projects it is unknown how many records were this project's, so at most half of its limit is kept.
          const share = projectIds.length === 1 ? error.share : Math.min(error.share, 1 / 2);
          const fewer = Math.max(1, Math.floor(Math.min(records, limitOf(error.projectId)) * share));
          limited.set(error.projectId, { records: fewer, until: clock.now() + LIMITED_FOR_MS });
        }
      }
    },
  };
}
