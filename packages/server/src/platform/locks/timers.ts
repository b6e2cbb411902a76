import type { Tx } from '../db/statements.ts';
import { listDueTimers, listTimerRows, updateTimersEarlier, updateTimers, type TimerKind } from './store.ts';

/** Returns when each kind of background work of a project is due next. Null: nothing is due. */
export async function listTimers(
  tx: Tx,
  projectId: number,
): Promise<{ work: TimerKind; nextAt: Date | null }[]> {
  const rows = await listTimerRows(tx, projectId);
  return rows.map(({ work, next_at: nextAt }) => ({ work, nextAt }));
}

export type ProjectTimer = { projectId: number; nextAt: Date };

/** Returns projects with due work, longest overdue first. */
export async function listDueProjects(
  tx: Tx,
  query: { work: TimerKind; now: Date; limit: number },
): Promise<ProjectTimer[]> {
  const rows = await listDueTimers(tx, query);
  return rows.map((row) => ({ projectId: row.project_id, nextAt: row.next_at }));
}

/** Sets alarms of these projects, unless an earlier one is set. */
export async function setTimersEarlier(tx: Tx, work: TimerKind, timers: ProjectTimer[]): Promise<void> {
  if (timers.length === 0) return;
  await updateTimersEarlier(
    tx,
    work,
    timers.map(({ projectId, nextAt }) => ({ project_id: projectId, next_at: nextAt })),
  );
}

export function setTimers(
  tx: Tx,
  work: TimerKind,
  timers: { projectId: number; nextAt: Date | null }[],
): Promise<void> {
  return updateTimers(
    tx,
    work,
    timers.map(({ projectId, nextAt }) => ({ project_id: projectId, next_at: nextAt })),
  );
}

/** Returns the earliest time of each project. */
export function earliestPerProject(timers: ProjectTimer[]): ProjectTimer[] {
  const earliest = new Map<number, ProjectTimer>();
  for (const timer of timers) {
    const existing = earliest.get(timer.projectId);
    if (!existing || timer.nextAt < existing.nextAt) earliest.set(timer.projectId, timer);
  }
  return [...earliest.values()];
}
