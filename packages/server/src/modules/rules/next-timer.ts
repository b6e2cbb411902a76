import { nextDraftDueAt } from '../drafts/index.ts';
import { nextEnrollmentAt } from './enrollment/store.ts';
import { nextTimerAt } from './definitions/store.ts';
import { nextRunAt } from './runs/reads.ts';
import type { TimerKind } from '../../platform/locks/store.ts';
import { nextDeliveryAt } from '../webhooks/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Returns the earliest time at which any module has this kind of work in the project. The caller holds the lock of the due row. */
export async function nextMoment(tx: Tx, projectId: number, work: TimerKind): Promise<Date | null> {
  const moments = await Promise.all(SOURCES[work].map((next) => next(tx, projectId)));
  return moments.reduce<Date | null>((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
}

const SOURCES: Record<TimerKind, ((tx: Tx, projectId: number) => Promise<Date | null>)[]> = {
  process: [nextDueAt, nextTimerAt, ofMs(nextRunAt), nextEnrollmentAt],
  send: [ofMs(nextDraftDueAt)],
  webhooks: [ofMs(nextDeliveryAt)],
};

function ofMs(
  next: (tx: Tx, projectId: number) => Promise<number | null>,
): (tx: Tx, projectId: number) => Promise<Date | null> {
  return async (tx, projectId) => {
    const at = await next(tx, projectId);
    return at === null ? null : new Date(at);
  };
}

/** Returns the earliest time at which a user has to be evaluated again. Reads a table of the audiences module. */
export async function nextDueAt(tx: Tx, projectId: number): Promise<Date | null> {
  const rows = await tx.prepared<{ at: Date }>({
    name: 'audiences.first_due',
    text: `SELECT at FROM beckon.audience_timer WHERE project_id = $1 ORDER BY at LIMIT 1`,
    values: [projectId],
  });
  return rows[0]?.at ?? null;
}
