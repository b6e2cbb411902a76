import type { Tx } from '../../io/db/index.ts';
import {
  findAnyWork,
  listDue,
  listDueOf,
  lockDue,
  lockDues,
  updateDue,
  updateDueEarlier,
  updateDues,
  type Work,
} from './store.ts';

/** Whether anything waits or is due for the digest, in any project. */
export function isAnyWork(tx: Tx, now: Date): Promise<boolean> {
  return findAnyWork(tx, now);
}

/** When what a project's workers do by themselves is due next; null: nothing is. */
export async function duesOf(tx: Tx, projectId: number): Promise<{ work: Work; nextAt: Date | null }[]> {
  const rows = await listDueOf(tx, projectId);
  return rows.map(({ work, next_at: nextAt }) => ({ work, nextAt }));
}

export type DuePlace = { projectId: number; nextAt: Date };

/** Where something is due, the longest overdue first. */
export async function duePlaces(
  tx: Tx,
  asked: { work: Work; now: Date; limit: number },
): Promise<DuePlace[]> {
  const rows = await listDue(tx, asked);
  return rows.map((row) => ({ projectId: row.project_id, nextAt: row.next_at }));
}

/** Something of these projects is due at these times, perhaps before anything else of theirs. */
export async function dueEarlier(tx: Tx, work: Work, places: DuePlace[]): Promise<void> {
  if (places.length === 0) return;
  await updateDueEarlier(
    tx,
    work,
    places.map(({ projectId, nextAt }) => ({ project_id: projectId, next_at: nextAt })),
  );
}

/** Until the transaction ends nobody adds anything due: to be taken before it is asked what comes next. */
export function holdDue(tx: Tx, projectId: number, work: Work): Promise<void> {
  return lockDue(tx, projectId, work);
}

/** With the place held: what is due next is due then, or nothing is. */
export function dueNext(
  tx: Tx,
  place: { projectId: number; work: Work; nextAt: Date | null },
): Promise<void> {
  return updateDue(tx, place);
}

/** Both at once for many projects. */
export function holdDues(tx: Tx, work: Work, projectIds: number[]): Promise<void> {
  return lockDues(tx, work, projectIds);
}

export function duesNext(
  tx: Tx,
  work: Work,
  places: { projectId: number; nextAt: Date | null }[],
): Promise<void> {
  return updateDues(
    tx,
    work,
    places.map(({ projectId, nextAt }) => ({ project_id: projectId, next_at: nextAt })),
  );
}

/** The first moment of each project. */
export function firstOfEach(places: DuePlace[]): DuePlace[] {
  const first = new Map<number, DuePlace>();
  for (const place of places) {
    const known = first.get(place.projectId);
    if (!known || place.nextAt < known.nextAt) first.set(place.projectId, place);
  }
  return [...first.values()];
}
