/** Rows of `saved_view`. */

import type { SavedView, ViewScreen } from '@beckon/contract/dashboard';
import { readAs } from '../../../platform/db/read-as.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** `created_by` is the stable id of the author. A response has the name instead. */
const COLUMNS = 'id, screen, name, filter, created_by, created_at';

export async function insertView(tx: Tx, projectId: number, view: SavedView): Promise<void> {
  const { id, screen, name, filter, created_at: at, created_by: by } = view;
  await tx.query(
    `INSERT INTO beckon.saved_view (project_id, id, screen, name, filter, created_at, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [projectId, id, screen, name, filter, at, by],
  );
}

export async function deleteViewRow(
  tx: Tx,
  { projectId, id }: { projectId: number; id: string },
): Promise<SavedView | null> {
  const rows = await readAs<SavedView>(
    tx,
    `DELETE FROM beckon.saved_view WHERE project_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [projectId, id],
  );
  return rows[0] ?? null;
}

/** Returns the views by name, of all lists if `screen` is null. A list has a hundred views at most. */
export function listViews(
  tx: Tx,
  { projectId, screen }: { projectId: number; screen: ViewScreen | null },
): Promise<SavedView[]> {
  return readAs(
    tx,
    `SELECT ${COLUMNS} FROM beckon.saved_view WHERE project_id = $1 AND ($2::text IS NULL OR screen = $2)
     ORDER BY screen, name`,
    [projectId, screen],
  );
}

export async function findView(
  tx: Tx,
  { projectId, id }: { projectId: number; id: string },
): Promise<SavedView | null> {
  const rows = await readAs<SavedView>(
    tx,
    `SELECT ${COLUMNS} FROM beckon.saved_view WHERE project_id = $1 AND id = $2 FOR UPDATE`,
    [projectId, id],
  );
  return rows[0] ?? null;
}

export async function updateViewName(
  tx: Tx,
  { projectId, id }: { projectId: number; id: string },
  name: string,
): Promise<void> {
  await tx.query(`UPDATE beckon.saved_view SET name = $3 WHERE project_id = $1 AND id = $2`, [
    projectId,
    id,
    name,
  ]);
}

export async function findViewByName(
  tx: Tx,
  { projectId, screen, name }: { projectId: number; screen: ViewScreen; name: string },
): Promise<SavedView | null> {
  const rows = await readAs<SavedView>(
    tx,
    `SELECT ${COLUMNS} FROM beckon.saved_view WHERE project_id = $1 AND screen = $2 AND name = $3`,
    [projectId, screen, name],
  );
  return rows[0] ?? null;
}
