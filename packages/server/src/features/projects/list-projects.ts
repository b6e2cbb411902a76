import type { Tx } from '../../io/db/index.ts';
import { type Project, toProject } from './project.ts';
import { listProjectRows } from './store.ts';

export async function listProjects(tx: Tx): Promise<Project[]> {
  const rows = await listProjectRows(tx);
  return rows.map(toProject);
}
