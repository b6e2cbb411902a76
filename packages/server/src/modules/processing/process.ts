import type { AudienceVersionKey } from '../audiences/index.ts';
import type { IngestPriority } from '../ingest/index.ts';
import { type BatchResult, EMPTY_BATCH } from './batch-result.ts';
import { type BuildStep, buildStep, countStep } from './build-audience.ts';
import { createBuildTurns } from './build-turns.ts';
import { createDeadLetterWriter } from './dead-letter.ts';
import { type BatchDeps, processBatch, type FirstRecord } from './process-batch.ts';
import { processTimers, TIMERS_AT_ONCE_MAX, type TimersResult } from './process-timers.ts';
import { createModels, createSlowRenders, type SlowRenders, RenderLimitExceeded } from '../rules/index.ts';
import type { SuppressionHasher } from '../sending/index.ts';
import { ensurePartitions, isPartitioned, type PropertyCache } from '../users/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { isPoisonous } from '../../platform/db/errors.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** Processes accepted records into users, events, audience members and change entries. */
export type Processor = {
  /**
   * Processes one batch of a priority of these projects, the first ones first. A record that the database rejects is isolated and
   * dead-lettered. Any other failure changes nothing and is thrown.
   */
  batch(priority: IngestPriority, projectIds: number[], records?: number): Promise<BatchResult>;
  /** Processes everything in a project that is due by time alone. */
  timers(projectId: number): Promise<TimersResult>;
  /** Runs one step towards the members of a new definition. */
  build(key: AudienceVersionKey): Promise<BuildStep>;
  /** Runs one step of counting an event that the project's rules use without a window. */
  count(projectId: number): Promise<BuildStep>;
  /** Returns for how many milliseconds the emails of each project blocked the process since the last call. */
  takeSlow(): Map<number, number>;
};

export type ProcessorOptions = {
  db: Database;
  log: Log;
  newId: NewId;
  hasher: SuppressionHasher;
  slow?: SlowRenders;
  onBatch?: (facts: { priority: IngestPriority; records: number; events: number; ms: number }) => void;
};

const BATCH_MAX_RECORDS = 1_000;
/** Minimum per project when many wait at once, so that none is served in tiny portions. */
const RECORDS_PER_PROJECT_MIN = 50;

function depsOf({
  db,
  newId,
  hasher,
  slow = createSlowRenders(),
}: ProcessorOptions): BatchDeps & { slow: SlowRenders } {
  return { db, newId, hasher, slow, models: createModels(db.clock), propertyCache: createPropertyCache() };
}

type Attempt = (priority: IngestPriority, projectIds: number[], recordsMax: number) => Promise<BatchResult>;

/** Returns a function that applies a batch, smaller if its emails take too long or one of its records is rejected. */
function createAttempts(deps: BatchDeps, { db, log }: ProcessorOptions, limits: RenderLimits): Attempt {
  const deadLetters = createDeadLetterWriter(db, log);

  function attempt(priority: IngestPriority, candidates: number[], recordsMax: number): Promise<BatchResult> {
    return limits.within(candidates, recordsMax, ({ projectIds, records }) =>
      applyBatch(priority, projectIds, records),
    );
  }

  async function applyBatch(
    priority: IngestPriority,
    projectIds: number[],
    recordsMax: number,
  ): Promise<BatchResult> {
    const recordsPerProject = Math.min(
      recordsMax,
      Math.max(RECORDS_PER_PROJECT_MIN, Math.floor(recordsMax / projectIds.length)),
    );
    const firstRecord: FirstRecord = { seq: null };
    const input = { priority, projectIds, recordsPerProject, recordsMax, firstRecord };
    try {
      const result = await processBatch(deps, input);
      if (result.records > 0) deadLetters.reset(projectIds);
      return result;
    } catch (error) {
      const [projectId, ...others] = projectIds;
      // The caller finds the failing project by trying each one, with other work in between.
      if (projectId === undefined || others.length > 0 || !isPoisoned(error)) throw error;
      if (recordsMax > 1) return attempt(priority, projectIds, Math.floor(recordsMax / 2));
      // The batch is halved until it is one record: that one is dead-lettered, and the others are applied.
      return deadLetters.add({ priority, projectId, seq: firstRecord.seq, error });
    }
  }

  return attempt;
}

export function createProcessor(options: ProcessorOptions): Processor {
  const { db, log } = options;
  const deps = depsOf(options);
  const partitions = partitionKeeper(db);
  const limits = createRenderLimits(db.clock);
  const turns = createBuildTurns();
  const attempt = createAttempts(deps, options, limits);

  /** Where tables are distributed, a batch holds one project: the first one with records that no other worker has locked. */
  async function attemptAny(...[priority, projectIds, records]: Parameters<Attempt>): Promise<BatchResult> {
    if (!db.isDistributed) return attempt(priority, projectIds, records);
    let result = EMPTY_BATCH;
    for (const projectId of projectIds) {
      result = await attempt(priority, [projectId], records);
      if (result.records > 0) break;
    }
    return result;
  }

  return {
    async batch(priority, projectIds, records = BATCH_MAX_RECORDS) {
      await partitions.keep(db.clock.now());
      const startedAt = performance.now();
      const result = await attemptAny(priority, projectIds, records).catch((error: unknown) => {
        partitions.doubt();
        throw error;
      });
      if (result.records > 0) {
        const ms = Math.round((performance.now() - startedAt) * 10) / 10;
        const { projects, records, events } = result;
        log.info({ priority, projects, records, events, ms }, 'records.processed');
        options.onBatch?.({ priority, records, events, ms });
      }
      return result;
    },
    async timers(projectId) {
      const result = await limits.within([projectId], TIMERS_AT_ONCE_MAX, ({ records }) =>
        processTimers(deps, projectId, records),
      );
      const { people, moves, lateMs } = result;
      const fields = { project_id: projectId, users: people, transitions: moves, late_ms: lateMs };
      if (people > 0) log.info(fields, 'timers.processed');
      return result;
    },
    build: (key) => buildStep(deps, key, turns),
    count: (projectId) => countStep(deps, projectId, turns),
    takeSlow: () => deps.slow.take(),
  };
}

/** Returns true if the database rejected data, or a record is so unusual that our own code fails on it. The same batch would fail again. */
function isPoisoned(error: unknown): boolean {
  return (
    isPoisonous(error) ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}

const RECHECK_MS = 60_000;

/** Ensures that partitions exist. Months known to have one are not checked again. */
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
        // A failure to create the partition of a later month must not stop processing in this one.
        if (!(await isPartitioned(db, now))) throw error;
        goodUntil = Math.min(nextMonth, now + RECHECK_MS);
      }
    },
    doubt() {
      goodUntil = 0;
    },
  };
}

/**
 * Limits the records per batch of projects whose recent batches rendered too much. Their batches are small and not shared; every other
 * project continues as before.
 */
type RenderLimits = {
  /** Returns the projects that may share a batch: those before the first limited one, or that one alone. */
  together(projectIds: number[]): number[];
  /** Runs a batch, and repeats it with fewer records if it renders too much. */
  within<T>(projectIds: number[], records: number, run: (batch: LimitedBatch) => Promise<T>): Promise<T>;
};

type LimitedBatch = { projectIds: number[]; records: number };

/** After this time a full batch is tried again, because the template may have been fixed. */
const LIMITED_FOR_MS = 60_000;

function createRenderLimits(clock: Clock): RenderLimits {
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
    async within(candidates, recordsMax, run) {
      for (;;) {
        const projectIds = together(candidates);
        const records = Math.min(recordsMax, ...projectIds.map(limitOf));
        try {
          return await run({ projectIds, records });
        } catch (error) {
          if (!(error instanceof RenderLimitExceeded)) throw error;
          // In a batch of several projects it is unknown how many records were this project's, so at most half of its limit is kept.
          const share = projectIds.length === 1 ? error.share : Math.min(error.share, 1 / 2);
          const fewer = Math.max(1, Math.floor(Math.min(records, limitOf(error.projectId)) * share));
          limited.set(error.projectId, { records: fewer, until: clock.now() + LIMITED_FOR_MS });
        }
      }
    },
  };
}

export function createPropertyCache(): PropertyCache {
  return { day: 0, seen: new Set() };
}
