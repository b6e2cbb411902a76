import type { Log } from '../../platform/log.ts';
import { bury, type IngestPriority, settle, takeChunks } from '../ingest/index.ts';
import { findErasures, personKey } from '../users/index.ts';
import { takeFreeTurns } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Digested, NOTHING_DIGESTED } from './batch-result.ts';

/** The record at `seq` failed on its own; null if it could not even be read. */
export type Refused = { priority: IngestPriority; projectId: number; seq: number | null; error: unknown };

const REASON_MAX_CHARS = 500;
/** A defect in the code could reject every record. One project then stops, with an error, before all of its records are dead-lettered. */
const IN_A_ROW_MAX = 100;

export type Burials = {
  bury(refused: Refused): Promise<Digested>;
  /** Resets the count of these projects after a batch was applied. */
  over(projectIds: number[]): void;
};

export function createBurials(db: Database, log: Log): Burials {
  const inARow = new Map<number, number>();
  return {
    async bury(refused) {
      const { projectId, error } = refused;
      const count = (inARow.get(projectId) ?? 0) + 1;
      if (count > IN_A_ROW_MAX)
        throw new Error(`${IN_A_ROW_MAX} records in a row failed, so the cause may not be the records`, {
          cause: error,
        });
      inARow.set(projectId, count);
      return buryRecord(db, refused, log);
    },
    over(projectIds) {
      for (const id of projectIds) inARow.delete(id);
    },
  };
}

/**
 * Dead-letters the rejected record and no other. Since the rejection another worker may have dead-lettered it, or its user may have been
 * erased.
 */
export function buryRecord(db: Database, refused: Refused, log: Log): Promise<Digested> {
  const { priority, projectId, error } = refused;
  return db.transaction(async (tx) => {
    if ((await takeFreeTurns(tx, [projectId])).length === 0) return NOTHING_DIGESTED;
    const asked = { projectIds: [projectId], priority, ofEach: 1, ofAll: 1, bytes: 1 };
    const [chunk] = await takeChunks(tx, asked);
    const record = chunk?.records[0] as { external_user_id: string } | undefined;
    if (!chunk || record === undefined) throw error;
    if (chunk.seq !== refused.seq) return NOTHING_DIGESTED;
    const { kind, seq, acceptedAt, rowSeq } = chunk;
    const erasures = await findErasures(tx, [projectId]);
    const erasedAt = erasures.get(personKey({ projectId, userId: record.external_user_id })) ?? 0;
    if (seq >= erasedAt) {
      const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX_CHARS);
      const at = new Date(db.clock.now());
      await bury(tx, { projectId, priority, kind, seq, acceptedAt, record }, { reason, at });
      log.error({ project_id: projectId, seq, kind }, 'record.dead_lettered');
    }
    await settle(tx, [{ projectId, priority, rowSeq, records: 1, isWhole: chunk.records.length === 1 }]);
    return { ...NOTHING_DIGESTED, projects: 1, records: 1, lastProjectId: projectId };
  });
}
