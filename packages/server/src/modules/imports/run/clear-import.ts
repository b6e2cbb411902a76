import { deleteSnapshotRows } from '../billing/store.ts';
import { deleteParts, type ImportRef } from '../store.ts';
import type { Database } from '../../../platform/db/database.ts';

/** A part is up to 4 MiB. */
const PARTS_AT_ONCE = 16;
const ROWS_AT_ONCE = 5_000;

/**
 * Deletes what an ended import leaves of its source: the file, or the data read from Stripe. If the process is killed in between,
 * housekeeping deletes the rest.
 */
export async function clearImport(db: Pick<Database, 'query' | 'prepared'>, ref: ImportRef): Promise<void> {
  while (await deleteParts(db, ref, PARTS_AT_ONCE));
  const { projectId, id: importId } = ref;
  while (await deleteSnapshotRows(db, { projectId, importId }, ROWS_AT_ONCE));
}
