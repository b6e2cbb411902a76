import type { Tx } from '../../../platform/db/statements.ts';
import { listWarningRows } from './store.ts';

export type IngestWarning = { code: string; day: string; count: number; lastAt: Date };

const WARNINGS_LISTED_MAX = 1_000;

/** Returns the warnings, newest day first. */
export async function listWarnings(tx: Tx, projectId: number): Promise<IngestWarning[]> {
  const rows = await listWarningRows(tx, projectId, WARNINGS_LISTED_MAX);
  return rows.map((row) => ({ code: row.code, day: row.day, count: row.count, lastAt: row.last_at }));
}
