/** Rows of `project_lock` and `project_timer`. */

import { shiftedSql } from '../db/distributed.ts';
import type { Tx } from '../db/statements.ts';
import type { DueQueries } from '../jobs/work-watch.ts';

/** Creates the lock of a project. */
export async function openProjectLock(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`INSERT INTO beckon.project_lock (project_id, model) VALUES ($1, 0)`, [projectId]);
  await tx.query(
    `INSERT INTO beckon.project_timer (project_id, work) VALUES ($1, 'process'), ($1, 'send'), ($1, 'webhooks')`,
    [projectId],
  );
}

export type ProjectLockRow = { project_id: number; model: number; ahead_ms: number };

/** Locks those of the projects that no other worker has locked. */
export function lockFreeProjectLocks(tx: Tx, projectIds: number[]): Promise<ProjectLockRow[]> {
  return tx.prepared({
    name: 'locks.take',
    text: `SELECT project_id, model, ahead_ms FROM beckon.project_lock WHERE project_id = ANY ($1::bigint[])
           ORDER BY project_id FOR UPDATE SKIP LOCKED`,
    values: [projectIds],
  });
}

/** Locks a project, waiting for its current holder. */
export async function lockProject(tx: Tx, projectId: number): Promise<ProjectLockRow | undefined> {
  const rows = await tx.query<ProjectLockRow>(
    `SELECT project_id, model, ahead_ms FROM beckon.project_lock WHERE project_id = $1 FOR UPDATE`,
    [projectId],
  );
  return rows[0];
}

export async function findProjectLock(tx: Tx, projectId: number): Promise<ProjectLockRow | undefined> {
  const rows = await tx.prepared<ProjectLockRow>({
    name: 'locks.read',
    text: `SELECT project_id, model, ahead_ms FROM beckon.project_lock WHERE project_id = $1`,
    values: [projectId],
  });
  return rows[0];
}

/** Sets the model of a project whose definitions were copied with the numbers of another project. */
export async function setModel(
  tx: Tx,
  { projectId, model }: { projectId: number; model: number },
): Promise<void> {
  await tx.query(`UPDATE beckon.project_lock SET model = $2 WHERE project_id = $1`, [projectId, model]);
}

/**
 * Moves the project's clock and its alarms, which follow that clock, so they fire sooner by the same amount. Webhook deliveries wait in
 * real time. Requires the project lock and the send lock.
 */
export async function setClockAhead(
  tx: Tx,
  { projectId, aheadMs }: { projectId: number; aheadMs: number },
): Promise<void> {
  const nextAt = shiftedSql(tx, 'next_at', '- ($2::bigint - ahead_ms)');
  await tx.query(
    `UPDATE beckon.project_timer SET next_at = ${nextAt}, ahead_ms = $2
     WHERE project_id = $1 AND work <> 'webhooks'`,
    [projectId, aheadMs],
  );
  await tx.query(`UPDATE beckon.project_lock SET ahead_ms = $2 WHERE project_id = $1`, [projectId, aheadMs]);
}

/** Returns the distinct amounts by which clocks are ahead, except 0. */
export async function listClockLeads(tx: Tx): Promise<number[]> {
  const rows = await tx.query<{ ahead_ms: number }>(
    `SELECT DISTINCT ahead_ms FROM beckon.project_lock WHERE ahead_ms > 0 ORDER BY 1`,
  );
  return rows.map((row) => row.ahead_ms);
}

/** Records that definitions changed, and returns the number of the new model. Requires the project lock. */
export async function incrementModel(tx: Tx, projectId: number): Promise<number> {
  const rows = await tx.query<{ model: number }>(
    `UPDATE beckon.project_lock SET model = model + 1 WHERE project_id = $1 RETURNING model`,
    [projectId],
  );
  return rows[0]?.model ?? 0;
}

/** The kind of an alarm: processing, sending, or webhook deliveries. */
export type TimerKind = 'process' | 'send' | 'webhooks';
export type ProjectTimerRow = { project_id: number; next_at: Date };

/** Returns projects with due work, longest overdue first. */
export function listDueTimers(
  tx: Tx,
  { work, now, limit }: { work: TimerKind; now: Date; limit: number },
): Promise<ProjectTimerRow[]> {
  return tx.prepared({
    name: 'timers.due',
    text: `SELECT project_id, next_at FROM beckon.project_timer WHERE work = $3 AND next_at <= $1 ORDER BY next_at LIMIT $2`,
    values: [now, limit, work],
  });
}

const nextTimer = (work: TimerKind): string =>
  `SELECT min(next_at) FROM beckon.project_timer WHERE work = '${work}'`;

/** Queries for the work of all projects. Processing reads the table `ingest_queue` of another module. */
export const DUE_WORK: Record<TimerKind, DueQueries> = {
  process: { due: 'SELECT 1 FROM beckon.ingest_queue', nextAt: nextTimer('process') },
  send: { nextAt: nextTimer('send') },
  webhooks: { nextAt: nextTimer('webhooks') },
};

/** Returns whether any project has queued records or due work to process. Workers without work call it ten times a second. */
export async function hasAnyWork(tx: Tx, now: Date): Promise<boolean> {
  const rows = await tx.prepared<{ has_work: boolean }>({
    name: 'timers.any_work',
    text: `SELECT EXISTS (
             SELECT 1 FROM beckon.ingest_queue UNION ALL
             SELECT 1 FROM beckon.project_timer WHERE work = 'process' AND next_at <= $1
           ) AS has_work`,
    values: [now],
  });
  return rows[0]?.has_work ?? false;
}

/** Returns whether this project has queued records or due work to process. Reads the table `ingest_queue` of another module. */
export async function hasWork(
  tx: Tx,
  { projectId, now }: { projectId: number; now: Date },
): Promise<boolean> {
  const rows = await tx.prepared<{ has_work: boolean }>({
    name: 'timers.work_of_project',
    text: `SELECT EXISTS (
             SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 UNION ALL
             SELECT 1 FROM beckon.project_timer WHERE project_id = $1 AND work = 'process' AND next_at <= $2
           ) AS has_work`,
    values: [projectId, now],
  });
  return rows[0]?.has_work ?? false;
}

/** Converts a time of the project's clock into real time, which `next_at` is stored in. Each row stores how far the clock is ahead. */
const realTime = (tx: Tx, at: string, row = ''): string => shiftedSql(tx, at, `- ${row}ahead_ms`);

/**
 * Locks an alarm until the transaction ends, so that no other transaction can set it. Take it before looking up what comes next. Locks
 * first and reads in a new statement, because a transaction that waited for the lock must see what its holder wrote.
 */
export async function lockTimer(tx: Tx, projectId: number, work: TimerKind): Promise<void> {
  await tx.query(`SELECT 1 FROM beckon.project_timer WHERE project_id = $1 AND work = $2 FOR UPDATE`, [
    projectId,
    work,
  ]);
}

/** Sets the next alarm, or clears it. Requires the lock of `lockTimer`. */
export async function setTimer(
  tx: Tx,
  row: { projectId: number; work: TimerKind; nextAt: Date | null },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.project_timer SET next_at = ${realTime(tx, '$3::timestamptz')} WHERE project_id = $1 AND work = $2`,
    [row.projectId, row.work, row.nextAt],
  );
}

/**
 * Sets alarms to an earlier time only. Rows are locked in order even if they do not change, and compared after that. The holder of an alarm
 * may be about to set it later without seeing what this transaction adds.
 */
export async function updateTimersEarlier(tx: Tx, work: TimerKind, rows: ProjectTimerRow[]): Promise<void> {
  await tx.prepared({
    name: 'timers.set_earlier',
    text: `WITH timer AS MATERIALIZED (
             SELECT d.project_id, d.next_at, ${realTime(tx, 's.at', 'd.')} AS at FROM unnest($1::bigint[], $2::timestamptz[]) AS s(project_id, at)
             JOIN beckon.project_timer d ON d.project_id = s.project_id AND d.work = $3
             ORDER BY d.project_id FOR UPDATE OF d
           )
           UPDATE beckon.project_timer AS d SET next_at = p.at FROM timer p
           WHERE d.project_id = p.project_id AND d.work = $3 AND (p.next_at IS NULL OR p.next_at > p.at)`,
    values: [rows.map((row) => row.project_id), rows.map((row) => row.next_at), work],
  });
}

/** Locks the alarms of many projects. Locks in order, to avoid deadlocks between transactions that take several. */
export async function lockTimers(tx: Tx, work: TimerKind, projectIds: number[]): Promise<void> {
  await tx.prepared({
    name: 'timers.lock',
    text: `SELECT 1 FROM beckon.project_timer WHERE project_id = ANY ($1::bigint[]) AND work = $2 ORDER BY project_id FOR UPDATE`,
    values: [projectIds, work],
  });
}

export async function updateTimers(
  tx: Tx,
  work: TimerKind,
  rows: { project_id: number; next_at: Date | null }[],
): Promise<void> {
  const at = realTime(tx, 's.at', 'd.');
  await tx.prepared({
    name: 'timers.set',
    text: `UPDATE beckon.project_timer d SET next_at = ${at} FROM unnest($1::bigint[], $2::timestamptz[]) AS s(project_id, at)
           WHERE d.project_id = s.project_id AND d.work = $3 AND d.next_at IS DISTINCT FROM ${at}`,
    values: [rows.map((row) => row.project_id), rows.map((row) => row.next_at), work],
  });
}

export type KindTimerRow = { work: TimerKind; next_at: Date | null };

/** Returns when each kind of work of a project is due next. */
export function listTimerRows(tx: Tx, projectId: number): Promise<KindTimerRow[]> {
  return tx.query(`SELECT work, next_at FROM beckon.project_timer WHERE project_id = $1 ORDER BY work`, [
    projectId,
  ]);
}
