import type { NewId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { EditionPlace } from '../../features/audiences/index.ts';
import { ensurePartitions, knownProperties } from '../../features/events/index.ts';
import { bury, type Lane, settle, takeChunks } from '../../features/inbox/index.ts';
import { takeFreeTurns } from '../../features/turns/index.ts';
import { type Database, isRefusedData } from '../../io/db/index.ts';
import { type BatchDeps, type Digested, digestBatch } from './batch.ts';
import { type BuildStep, buildStep } from './build.ts';
import { type DueDone, digestDue } from './due.ts';
import { createModels } from './models.ts';

export type { Digested } from './batch.ts';
export type { BuildStep } from './build.ts';
export type { DueDone } from './due.ts';
export { type Tested, testAudience } from './test-audience.ts';

/** The second journey: accepted records become people, events, members and what the stream shows of them. */
export type Digest = {
  /**
   * One batch of what waits in a lane of these projects, of whom the first stand first. A record that the database refuses
   * is found and becomes a dead letter; any other failure leaves everything as it was, and is thrown.
   */
  batch(lane: Lane, projectIds: number[], records?: number): Promise<Digested>;
  /** Those of a project for whom time alone may have changed an answer. */
  due(projectId: number): Promise<DueDone>;
  /** One step towards the members of a new definition. */
  build(place: EditionPlace): Promise<BuildStep>;
};

export type DigestOptions = {
  db: Database;
  log: Log;
  newId: NewId;
  onBatch?: (facts: { lane: Lane; records: number; events: number; ms: number }) => void;
};

const BATCH_MAX_RECORDS = 1_000;
/** Of each project when many wait together, so that none of them is served by drops. */
const OF_EACH_MIN = 50;

export function createDigest(options: DigestOptions): Digest {
  const { db, log } = options;
  const deps: BatchDeps = {
    db,
    newId: options.newId,
    models: createModels(),
    known: knownProperties(),
  };
  const partitions = partitionKeeper(db);

  async function attempt(lane: Lane, projectIds: number[], ofAll: number): Promise<Digested> {
    const ofEach = Math.min(ofAll, Math.max(OF_EACH_MIN, Math.floor(ofAll / projectIds.length)));
    try {
      return await digestBatch(deps, { lane, projectIds, ofEach, ofAll });
    } catch (error) {
      if (!isPoisoned(error)) throw error;
      return narrow(error, { lane, projectIds, ofAll });
    }
  }

  /** A refused batch is made smaller until it is one record: that one dies, and its neighbours are applied. */
  async function narrow(error: unknown, { lane, projectIds, ofAll }: Refused): Promise<Digested> {
    const [first, ...others] = projectIds;
    if (first === undefined) throw error;
    if (others.length > 0) {
      let last: Digested | undefined;
      for (const id of projectIds) last = await attempt(lane, [id], ofAll);
      return last ?? Promise.reject(error);
    }
    if (ofAll > 1) return attempt(lane, [first], Math.floor(ofAll / 2));
    return buryFirst(deps, { lane, projectId: first, error, log });
  }

  return {
    async batch(lane, projectIds, records = BATCH_MAX_RECORDS) {
      await partitions.keep(db.clock.now());
      const startedAt = performance.now();
      const digested = await attempt(lane, projectIds, records);
      if (digested.records > 0) {
        const ms = Math.round((performance.now() - startedAt) * 10) / 10;
        const { projects, records, events } = digested;
        log.info({ lane, projects, records, events, ms }, 'records.digested');
        options.onBatch?.({ lane, records, events, ms });
      }
      return digested;
    },
    async due(projectId) {
      const done = await digestDue(deps, projectId);
      if (done.people > 0) log.info({ projectId, ...done }, 'time.digested');
      return done;
    },
    build: (place) => buildStep(deps, place),
  };
}

type Refused = { lane: Lane; projectIds: number[]; ofAll: number };

/** The database refused data, or a record is so odd that our own code stumbles over it: the same batch will fail again. */
function isPoisoned(error: unknown): boolean {
  return (
    isRefusedData(error) ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}

type Burial = { lane: Lane; projectId: number; error: unknown; log: Log };

const REASON_MAX_CHARS = 500;

async function buryFirst(deps: BatchDeps, { lane, projectId, error, log }: Burial): Promise<Digested> {
  const { db } = deps;
  return db.transaction(async (tx) => {
    const nothing = {
      projects: 0,
      records: 0,
      events: 0,
      oldestAt: null,
      lastProjectId: null,
      misshapen: [],
    };
    if ((await takeFreeTurns(tx, [projectId])).length === 0) return nothing;
    const asked = { projectIds: [projectId], lane, ofEach: 1, ofAll: 1, bytes: 1 };
    const [chunk] = await takeChunks(tx, asked);
    if (!chunk || chunk.records.length === 0) return nothing;
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX_CHARS);
    const { kind, seq, acceptedAt, rowSeq } = chunk;
    await bury(
      tx,
      { projectId, lane, kind, seq, acceptedAt, record: chunk.records[0] },
      { reason, at: new Date(db.clock.now()) },
    );
    await settle(tx, [{ projectId, lane, rowSeq, records: 1, isWhole: chunk.records.length === 1 }]);
    log.error({ projectId, seq, kind }, 'record.died');
    return { ...nothing, projects: 1, records: 1, lastProjectId: projectId };
  });
}

/** Months whose partitions are known to be there need no question. */
function partitionKeeper(db: Database): { keep(now: number): Promise<void> } {
  let goodUntil = 0;
  return {
    async keep(now) {
      if (now < goodUntil) return;
      await ensurePartitions(db, now);
      const at = new Date(now);
      goodUntil = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
    },
  };
}
