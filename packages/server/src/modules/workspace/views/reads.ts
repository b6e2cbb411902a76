import type { Tx } from '../../../platform/db/statements.ts';
import { toView, type ViewRow, type Screen, type View } from './store.ts';

/** Returns the views by name, of all lists if `screen` is null. A list has a hundred views at most. */
export async function listViews(
  tx: Tx,
  { projectId, screen }: { projectId: number; screen: Screen | null },
): Promise<View[]> {
  const rows = await tx.query<ViewRow>(
    `SELECT * FROM beckon.saved_view WHERE project_id = $1 AND ($2::text IS NULL OR screen = $2) ORDER BY screen, name`,
    [projectId, screen],
  );
  return rows.map(toView);
}

export async function findViewByName(
  tx: Tx,
  { projectId, screen, name }: { projectId: number; screen: Screen; name: string },
): Promise<View | null> {
  const rows = await tx.query<ViewRow>(
    `SELECT * FROM beckon.saved_view WHERE project_id = $1 AND screen = $2 AND name = $3`,
    [projectId, screen, name],
  );
  return rows[0] ? toView(rows[0]) : null;
}
