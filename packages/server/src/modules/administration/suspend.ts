import type { Clock } from '../../platform/time/clock.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type Project, toProject, unknownProject, updateSuspended } from '../workspace/index.ts';

/** The caller must hold the project's queue lock, so that this comes before or after a flush as a whole. */
export async function suspendProject(deps: { tx: Tx; clock: Clock }, projectId: number): Promise<Project> {
  return setSuspended(deps.tx, projectId, new Date(deps.clock.now()));
}

export async function resumeProject(deps: { tx: Tx }, projectId: number): Promise<Project> {
  return setSuspended(deps.tx, projectId, null);
}

async function setSuspended(tx: Tx, projectId: number, at: Date | null): Promise<Project> {
  const row = await updateSuspended(tx, { projectId, at });
  if (!row) throw unknownProject(projectId);
  return toProject(row);
}
