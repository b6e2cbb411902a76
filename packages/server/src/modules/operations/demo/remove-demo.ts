import { listDemos, type Project } from '../../workspace/index.ts';
import { deleteProject } from '../../../platform/db/project-rows.ts';
import type { Database } from '../../../platform/db/database.ts';

/** Deletes all demos with all of their data, and no other project. */
export async function removeDemos(
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>,
): Promise<Project[]> {
  const demos = await listDemos(db);
  for (const { id } of demos) await db.transaction((tx) => deleteProject(tx, id));
  return demos;
}
