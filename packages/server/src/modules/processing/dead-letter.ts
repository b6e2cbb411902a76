import type { Log } from '../../platform/log.ts';
import { deadLetterRecord, type IngestPriority, settle, takeChunks } from '../ingest/index.ts';
import { findErasures, personKey } from '../users/index.ts';
import { takeFreeProjectLocks } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import { type BatchResult, EMPTY_BATCH } from './batch-result.ts';

/** The record at `seq` failed on its own; null if it could not even be read. */
export type RejectedRecord = {
  priority: IngestPriority;
  projectId: number;
  seq: number | null;
  error: unknown;
};

const REASON_MAX_CHARS = 500;
/** A defect in the code could reject every record. One project then stops, with an error, before all of its records are dead-lettered. */
const CONSECUTIVE_MAX = 100;

export type DeadLetterWriter = {
  add(rejected: RejectedRecord): Promise<BatchResult>;
  /** Resets the count of these projects after a batch was applied. */
  reset(projectIds: number[]): void;
};

export function createDeadLetterWriter(db: Database, log: Log): DeadLetterWriter {
  const consecutive = new Map<number, number>();
  return {
    async add(rejected) {
      const { projectId, error } = rejected;
      const count = (consecutive.get(projectId) ?? 0) + 1;
      if (count > CONSECUTIVE_MAX)
        throw new Error(`${CONSECUTIVE_MAX} records in a row failed, so the cause may not be the records`, {
          cause: error,
        });
      consecutive.set(projectId, count);
      return deadLetterRejected(db, rejected, log);
    },
    reset(projectIds) {
      for (const id of projectIds) consecutive.delete(id);
    },
  };
}

/**
 * Dead-letters the rejected record and no other. Since the rejection another worker may have dead-lettered it, or its user may have been
 * erased.
 */
export function deadLetterRejected(db: Database, rejected: RejectedRecord, log: Log): Promise<BatchResult> {
  const { priority, projectId, error } = rejected;
  return db.transaction(async (tx) => {
    if ((await takeFreeProjectLocks(tx, [projectId])).length === 0) return EMPTY_BATCH;
    const query = { projectIds: [projectId], priority, ofEach: 1, ofAll: 1, bytes: 1 };
    const [chunk] = await takeChunks(tx, query);
    const record = chunk?.records[0] as { external_user_id: string } | undefined;
    if (!chunk || record === undefined) throw error;
    if (chunk.seq !== rejected.seq) return EMPTY_BATCH;
    const { kind, seq, acceptedAt, rowSeq } = chunk;
    const erasures = await findErasures(tx, [projectId]);
    const erasedAt = erasures.get(personKey({ projectId, userId: record.external_user_id })) ?? 0;
    if (seq >= erasedAt) {
      const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX_CHARS);
      const at = new Date(db.clock.now());
      await deadLetterRecord(tx, { projectId, priority, kind, seq, acceptedAt, record }, { reason, at });
      log.error({ project_id: projectId, seq, kind }, 'record.dead_lettered');
    }
    await settle(tx, [{ projectId, priority, rowSeq, records: 1, isWhole: chunk.records.length === 1 }]);
    return { ...EMPTY_BATCH, projects: 1, records: 1, lastProjectId: projectId };
  });
}
