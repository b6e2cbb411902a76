import type { Tx } from '../../../platform/db/statements.ts';
import { type Project, toProject } from './project.ts';
import { listDemoRows, listProjectRows } from './store.ts';

export async function listProjects(tx: Tx): Promise<Project[]> {
  const rows = await listProjectRows(tx);
  return rows.map(toProject);
}

/** Lists demo projects, which send nothing to the outside. */
export async function listDemos(tx: Tx): Promise<Project[]> {
  const rows = await listDemoRows(tx);
  return rows.map(toProject);
}
