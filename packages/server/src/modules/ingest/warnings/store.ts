import type { IngestWarning } from '@beckon/contract/dashboard';
import { readAs } from '../../../platform/db/read-as.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type WarningRow = { project_id: number; code: string; day: string; count: number; last_at: Date };

/** Sorts the rows, so that two processes that write the same warnings cannot deadlock. */
export async function addWarnings(tx: Tx, rows: WarningRow[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.ingest_warning AS known (project_id, code, day, count, last_at)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[], $5::timestamptz[])
       AS noted (project_id, code, day, count, last_at)
     ORDER BY project_id, code, day
     ON CONFLICT (project_id, code, day) DO UPDATE SET
       count = known.count + excluded.count,
       last_at = greatest(known.last_at, excluded.last_at)`,
    [
      rows.map((row) => row.project_id),
      rows.map((row) => row.code),
      rows.map((row) => row.day),
      rows.map((row) => row.count),
      rows.map((row) => row.last_at),
    ],
  );
}

const LISTED_MAX = 1_000;

/** Returns the warnings, newest day first. */
export function listWarnings(tx: Tx, projectId: number): Promise<IngestWarning[]> {
  return readAs(
    tx,
    `SELECT code, day::text AS day, count, last_at FROM beckon.ingest_warning
     WHERE project_id = $1 ORDER BY day DESC, code LIMIT $2`,
    [projectId, LISTED_MAX],
  );
}
