import { listDemos, type Project } from '../../features/projects/index.ts';
import { deleteProject, type Database } from '../../io/db/index.ts';

/** All demos, and all that they have; nothing else is ever removed this way. */
export async function removeDemos(
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>,
): Promise<Project[]> {
  const demos = await listDemos(db);
  for (const { id } of demos) await db.transaction((tx) => deleteProject(tx, id));
  return demos;
}
