/** Claims rows of `import`. */

import { claimOfAny } from '../../platform/db/distributed.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { COLUMNS, type Import, type ImportRow, toImport } from './import.ts';

/** Returns a row if `claimRow` would find an import at `$1`. */
export const IMPORTS_DUE = `
  SELECT 1 FROM beckon.import i JOIN beckon.project p ON p.project_id = i.project_id AND p.suspended_at IS NULL
  WHERE i.state IN ('checking', 'running') AND (i.lease_until IS NULL OR i.lease_until <= $1) AND NOT EXISTS (
    SELECT 1 FROM beckon.import f WHERE f.project_id = i.project_id AND f.state IN ('checking', 'running')
      AND (f.queued_at, f.id) < (i.queued_at, i.id))`;

/** Claims an import with a lease: the first one queued in its project, if no process works on it. Imports of suspended projects wait. */
export async function claimRow(
  tx: Tx,
  { now, leaseUntil, only }: { now: Date; leaseUntil: Date; only: string | null },
): Promise<Import | null> {
  const rows = await claimOfAny<ImportRow>(tx, {
    due: {
      text: `SELECT project_id FROM beckon.import WHERE state IN ('checking', 'running')
             AND (lease_until IS NULL OR lease_until <= $1) AND ($2::uuid IS NULL OR id = $2) ORDER BY queued_at`,
      values: [now, only],
    },
    text: (of) => `WITH first AS (
       SELECT DISTINCT ON (project_id) project_id, id FROM beckon.import
       WHERE ${of('import')}state IN ('checking', 'running') ORDER BY project_id, queued_at, id
     ), free AS (
       SELECT i.project_id, i.id FROM beckon.import i JOIN first f ON f.project_id = i.project_id AND f.id = i.id
       JOIN beckon.project p ON p.project_id = i.project_id
       WHERE ${of('i')}(i.lease_until IS NULL OR i.lease_until <= $1) AND i.state IN ('checking', 'running') AND p.suspended_at IS NULL
         AND ($3::uuid IS NULL OR i.id = $3)
       ORDER BY i.queued_at LIMIT 1 FOR UPDATE OF i SKIP LOCKED
     )
     UPDATE beckon.import AS i SET epoch = epoch + 1, lease_until = $2 FROM free
     WHERE ${of('i')}i.project_id = free.project_id AND i.id = free.id
     RETURNING ${COLUMNS.split(',')
       .map((column) => `i.${column.trim()}`)
       .join(', ')}`,
    values: [now, leaseUntil, only],
  });
  return rows[0] ? toImport(rows[0]) : null;
}
