import type { Tx } from '../../io/db/index.ts';
import { type Project, toProject } from './project.ts';
import { listDemoRows, listProjectRows } from './store.ts';

export async function listProjects(tx: Tx): Promise<Project[]> {
  const rows = await listProjectRows(tx);
  return rows.map(toProject);
}

/** Those that were made up: of them nothing leaves this machine. */
export async function listDemos(tx: Tx): Promise<Project[]> {
  const rows = await listDemoRows(tx);
  return rows.map(toProject);
}
