import type { Tx } from '../db/statements.ts';
import {
  findAnyWork,
  listDue,
  listDueOf,
  lockDue,
  lockDues,
  updateDue,
  updateDueEarlier,
  updateDues,
  type AlarmKind,
} from './store.ts';

/** Returns whether any project has queued records or due work to process. */
export function isAnyWork(tx: Tx, now: Date): Promise<boolean> {
  return findAnyWork(tx, now);
}

/** Returns when each kind of background work of a project is due next. Null: nothing is due. */
export async function duesOf(tx: Tx, projectId: number): Promise<{ work: AlarmKind; nextAt: Date | null }[]> {
  const rows = await listDueOf(tx, projectId);
  return rows.map(({ work, next_at: nextAt }) => ({ work, nextAt }));
}

export type DuePlace = { projectId: number; nextAt: Date };

/** Returns projects with due work, longest overdue first. */
export async function duePlaces(
  tx: Tx,
  asked: { work: AlarmKind; now: Date; limit: number },
): Promise<DuePlace[]> {
  const rows = await listDue(tx, asked);
  return rows.map((row) => ({ projectId: row.project_id, nextAt: row.next_at }));
}

/** Sets alarms of these projects, unless an earlier one is set. */
export async function dueEarlier(tx: Tx, work: AlarmKind, places: DuePlace[]): Promise<void> {
  if (places.length === 0) return;
  await updateDueEarlier(
    tx,
    work,
    places.map(({ projectId, nextAt }) => ({ project_id: projectId, next_at: nextAt })),
  );
}

/** Locks an alarm until the transaction ends, so that no other transaction can set it. Take it before looking up what comes next. */
export function holdDue(tx: Tx, projectId: number, work: AlarmKind): Promise<void> {
  return lockDue(tx, projectId, work);
}

/** Sets the next alarm, or clears it. Requires the lock of `holdDue`. */
export function dueNext(
  tx: Tx,
  place: { projectId: number; work: AlarmKind; nextAt: Date | null },
): Promise<void> {
  return updateDue(tx, place);
}

/** Locks the alarms of many projects. */
export function holdDues(tx: Tx, work: AlarmKind, projectIds: number[]): Promise<void> {
  return lockDues(tx, work, projectIds);
}

export function duesNext(
  tx: Tx,
  work: AlarmKind,
  places: { projectId: number; nextAt: Date | null }[],
): Promise<void> {
  return updateDues(
    tx,
    work,
    places.map(({ projectId, nextAt }) => ({ project_id: projectId, next_at: nextAt })),
  );
}

/** Returns the earliest time of each project. */
export function firstOfEach(places: DuePlace[]): DuePlace[] {
  const first = new Map<number, DuePlace>();
  for (const place of places) {
    const known = first.get(place.projectId);
    if (!known || place.nextAt < known.nextAt) first.set(place.projectId, place);
  }
  return [...first.values()];
}
