/** Rows of `saved_view`. */

import type { ViewScreen } from '@beckon/contract/dashboard';
import type { Tx } from '../../../platform/db/statements.ts';

type ViewRow = {
  project_id: number;
  id: string;
  screen: ViewScreen;
  name: string;
  filter: string;
  created_at: Date;
  created_by: string;
};

function toView(row: ViewRow): View {
  const { project_id: projectId, id, screen, name, filter, created_at: at, created_by: createdBy } = row;
  return { projectId, id, screen, name, filter, createdAt: at.getTime(), createdBy };
}

export async function insertView(tx: Tx, view: View): Promise<void> {
  const { projectId, id, screen, name, filter, createdAt, createdBy } = view;
  await tx.query(
    `INSERT INTO beckon.saved_view (project_id, id, screen, name, filter, created_at, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [projectId, id, screen, name, filter, new Date(createdAt), createdBy],
  );
}

export async function deleteViewRow(
  tx: Tx,
  { projectId, id }: { projectId: number; id: string },
): Promise<View | null> {
  const rows = await tx.query<ViewRow>(
    `DELETE FROM beckon.saved_view WHERE project_id = $1 AND id = $2 RETURNING *`,
    [projectId, id],
  );
  return rows[0] ? toView(rows[0]) : null;
}

/** A named filter of a list, shared by all members of the project. Times are in milliseconds. */
export type View = {
  projectId: number;
  id: string;
  screen: ViewScreen;
  name: string;
  filter: string;
  createdAt: number;
  createdBy: string;
};

/** Returns the views by name, of all lists if `screen` is null. A list has a hundred views at most. */
export async function listViews(
  tx: Tx,
  { projectId, screen }: { projectId: number; screen: ViewScreen | null },
): Promise<View[]> {
  const rows = await tx.query<ViewRow>(
    `SELECT * FROM beckon.saved_view WHERE project_id = $1 AND ($2::text IS NULL OR screen = $2) ORDER BY screen, name`,
    [projectId, screen],
  );
  return rows.map(toView);
}

export async function findViewByName(
  tx: Tx,
  { projectId, screen, name }: { projectId: number; screen: ViewScreen; name: string },
): Promise<View | null> {
  const rows = await tx.query<ViewRow>(
    `SELECT * FROM beckon.saved_view WHERE project_id = $1 AND screen = $2 AND name = $3`,
    [projectId, screen, name],
  );
  return rows[0] ? toView(rows[0]) : null;
}
