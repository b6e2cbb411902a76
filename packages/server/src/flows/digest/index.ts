import type { NewId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { StallWatch } from '../../base/stalls.ts';
import type { EditionPlace } from '../../features/audiences/index.ts';
import { ensurePartitions, isPartitioned, knownProperties } from '../../features/events/index.ts';
import type { Priority } from '../../features/inbox/index.ts';
import type { SuppressionHasher } from '../../features/suppressions/index.ts';
import type { Database } from '../../io/db/index.ts';
import { createAttempts } from './attempts.ts';
import type { BatchDeps } from './batch.ts';
import { type BuildStep, buildStep, countStep } from './build.ts';
import type { Digested } from './digested.ts';
import type { DueDone } from './due.ts';
import { createModels } from '../models.ts';

export type { Digested } from './digested.ts';
export type { BuildStep } from './build.ts';
export type { DueDone } from './due.ts';
export { type Tested, testAudience } from './test-audience.ts';

/** The second journey: accepted records become people, events, members and what the stream shows of them. */
export type Digest = {
  /**
   * One batch of what waits in a priority of these projects, of whom the first stand first. A record that the database refuses
   * is found and becomes a dead letter; any other failure leaves everything as it was, and is thrown.
   */
  batch(priority: Priority, projectIds: number[], records?: number): Promise<Digested>;
  /** Those of a project for whom time alone may have changed an answer. */
  due(projectId: number): Promise<DueDone>;
  /** One step towards the members of a new definition. */
  build(place: EditionPlace): Promise<BuildStep>;
  /** One step of counting, for ever, what the rules of a project ask about without a window. */
  count(projectId: number): Promise<BuildStep>;
};

export type DigestOptions = {
  db: Database;
  log: Log;
  newId: NewId;
  hasher: SuppressionHasher;
  watchStalls?: () => StallWatch;
  onBatch?: (facts: { priority: Priority; records: number; events: number; ms: number }) => void;
};

const BATCH_MAX_RECORDS = 1_000;
function depsOf({ db, newId, hasher }: DigestOptions): BatchDeps {
  return { db, newId, hasher, models: createModels(db.clock), known: knownProperties() };
}

export function createDigest(options: DigestOptions): Digest {
  const { db, log } = options;
  const deps = depsOf(options);
  const partitions = partitionKeeper(db);
  const attempts = createAttempts(deps, options);

  return {
    async batch(priority, projectIds, records = BATCH_MAX_RECORDS) {
      await partitions.keep(db.clock.now());
      const startedAt = performance.now();
      const digested = await attempts.batch(priority, projectIds, records).catch((error: unknown) => {
        partitions.doubt();
        throw error;
      });
      if (digested.records > 0) {
        const ms = Math.round((performance.now() - startedAt) * 10) / 10;
        const { projects, records, events } = digested;
        log.info({ priority, projects, records, events, ms }, 'records.processed');
        options.onBatch?.({ priority, records, events, ms });
      }
      return digested;
    },
    async due(projectId) {
      const done = await attempts.due(projectId);
      if (done.people > 0) log.info({ projectId, ...done }, 'timers.processed');
      return done;
    },
    build: (place) => buildStep(deps, place),
    count: (projectId) => countStep(deps, projectId),
  };
}

const ASK_AGAIN_MS = 60_000;

/** Months whose partitions are known to be there need no question. */
function partitionKeeper(db: Database): { keep(now: number): Promise<void>; doubt(): void } {
  let goodUntil = 0;
  return {
    async keep(now) {
      if (now < goodUntil) return;
      const at = new Date(now);
      const nextMonth = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
      try {
        await ensurePartitions(db, now);
        goodUntil = nextMonth;
      } catch (error) {
        // A later month that cannot be made just now is no reason to stand still in this one.
        if (!(await isPartitioned(db, now))) throw error;
        goodUntil = Math.min(nextMonth, now + ASK_AGAIN_MS);
      }
    },
    doubt() {
      goodUntil = 0;
    },
  };
}
