import type { Tx } from '../db/statements.ts';
import {
  findAnyWork,
  listDueTimers,
  listTimerRows,
  lockTimerRow,
  lockTimerRows,
  updateTimer,
  updateTimersEarlier,
  updateTimers,
  type TimerKind,
} from './store.ts';

/** Returns whether any project has queued records or due work to process. */
export function hasAnyWork(tx: Tx, now: Date): Promise<boolean> {
  return findAnyWork(tx, now);
}

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

/** Locks an alarm until the transaction ends, so that no other transaction can set it. Take it before looking up what comes next. */
export function lockTimer(tx: Tx, projectId: number, work: TimerKind): Promise<void> {
  return lockTimerRow(tx, projectId, work);
}

/** Sets the next alarm, or clears it. Requires the lock of `lockTimer`. */
export function setTimer(
  tx: Tx,
  timer: { projectId: number; work: TimerKind; nextAt: Date | null },
): Promise<void> {
  return updateTimer(tx, timer);
}

/** Locks the alarms of many projects. */
export function lockTimers(tx: Tx, work: TimerKind, projectIds: number[]): Promise<void> {
  return lockTimerRows(tx, work, projectIds);
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
