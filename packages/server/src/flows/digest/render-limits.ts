import type { Clock } from '../../base/clock.ts';
import { TooMuchRendering } from '../rules/index.ts';

/**
 * Projects whose batches rendered too much lately: how many records of theirs one batch may have. Their batches are small, and
 * shared with nobody; every other project goes on as before.
 */
export type RenderLimits = {
  /** Of these, who may share a batch: those in front of the first that is limited, or that one alone. */
  together(projectIds: number[]): number[];
  /** Runs a batch, and runs it again with fewer records where it renders too much. */
  within<T>(projectIds: number[], records: number, run: (batch: LimitedBatch) => Promise<T>): Promise<T>;
};

export type LimitedBatch = { projectIds: number[]; records: number };

/** Then it is tried with a full batch again: its template may have been mended. */
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
          // Of a batch of several projects nobody knows how many records were its own: half of what one project may have.
          const share = projectIds.length === 1 ? error.share : Math.min(error.share, 1 / 2);
          const fewer = Math.max(1, Math.floor(Math.min(records, limitOf(error.projectId)) * share));
          limited.set(error.projectId, { records: fewer, until: clock.now() + LIMITED_FOR_MS });
        }
      }
    },
  };
}
