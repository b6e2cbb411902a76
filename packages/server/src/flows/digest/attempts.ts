import { isStall, type StallWatch, watchStalls } from '../../base/stalls.ts';
import type { Priority } from '../../features/inbox/index.ts';
import { isPoisonous } from '../../io/db/index.ts';
import { createBatchLimits } from './batch-limits.ts';
import { type BatchDeps, digestBatch, type Tried } from './batch.ts';
import { createBurials } from './bury.ts';
import type { Digested } from './digested.ts';
import { DUE_AT_ONCE_MAX, type DueDone, digestDue } from './due.ts';
import type { DigestOptions } from './index.ts';
import { createStalledRecords } from './stalled-records.ts';

/** Runs batches, and makes them smaller where they fail or cost too much, down to the one record that is the cause. */
export type Attempts = {
  batch(priority: Priority, projectIds: number[], records: number): Promise<Digested>;
  due(projectId: number): Promise<DueDone>;
};

/** Of each project when many wait together, so that no project gets tiny batches. */
const OF_EACH_MIN = 50;

export function createAttempts(deps: BatchDeps, options: DigestOptions): Attempts {
  const { db } = deps;
  const burials = createBurials(db, options.log);
  const limits = createBatchLimits(db.clock);
  const stalledRecords = createStalledRecords();

  function batch(priority: Priority, wanted: number[], recordsMax: number): Promise<Digested> {
    return limits.within(wanted, recordsMax, ({ projectIds, records: ofAll }) =>
      watched(options, (watch) => attempt({ priority, projectIds, ofAll }, watch)),
    );
  }

  async function attempt({ priority, projectIds, ofAll }: Wanted, watch: StallWatch): Promise<Digested> {
    const ofEach = Math.min(ofAll, Math.max(OF_EACH_MIN, Math.floor(ofAll / projectIds.length)));
    const tried: Tried = { seq: null, records: 0 };
    try {
      const digested = await digestBatch(deps, { priority, projectIds, ofEach, ofAll, tried });
      if (digested.records > 0) burials.over(projectIds);
      if (isStall(watch.longestMs())) for (const id of projectIds) limits.stalled(id, tried.records);
      return digested;
    } catch (error) {
      const [projectId, ...others] = projectIds;
      // Which of many projects it was is found by trying each: the caller does so, and others go in between.
      if (projectId === undefined || others.length > 0) throw error;
      // Made smaller until it is one record: that one becomes a dead letter, and its neighbours are applied.
      if (isPoisoned(error) && ofAll > 1) return batch(priority, projectIds, Math.floor(ofAll / 2));
      const { seq } = tried;
      if (isPoisoned(error)) return burials.bury({ priority, projectId, seq, error });
      const reason = afterStall({ priority, projectId, tried }, watch.longestMs());
      if (!reason) throw error;
      return burials.bury({ priority, projectId, seq, error: new Error(reason, { cause: error }) });
    }
  }

  /** The reason to bury the record that was tried, if it is known to be the cause. */
  function afterStall({ priority, projectId, tried }: Failed, stalledMs: number): string | null {
    if (!isStall(stalledMs)) return null;
    limits.stalled(projectId, tried.records);
    return stalledRecords.failed({ priority, projectId, ...tried, stalledMs });
  }

  return {
    batch,
    due: (projectId) =>
      limits.within([projectId], DUE_AT_ONCE_MAX, ({ records }) =>
        watched(options, async (watch) => {
          try {
            return await digestDue(deps, projectId, records);
          } finally {
            if (isStall(watch.longestMs())) limits.stalled(projectId, records);
          }
        }),
      ),
  };
}

type Wanted = { priority: Priority; projectIds: number[]; ofAll: number };
type Failed = { priority: Priority; projectId: number; tried: Tried };

async function watched<T>(
  { watchStalls: begin = watchStalls }: DigestOptions,
  work: (watch: StallWatch) => Promise<T>,
): Promise<T> {
  const watch = begin();
  try {
    return await work(watch);
  } finally {
    watch.end();
  }
}

/** The database refused data, or a record is so odd that our own code stumbles over it: the same batch will fail again. */
function isPoisoned(error: unknown): boolean {
  return (
    isPoisonous(error) ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}
