import type { Tx } from '../../../platform/db/statements.ts';
import type { CancelReason, Enrollment } from './enrollment.ts';

/** A row of `rule_enrollment`, which is written with the project locked. */
type Row = {
  project_id: number;
  id: string;
  rule_id: string;
  state: Enrollment['state'];
  started_at: Date;
  ended_at: Date | null;
  next_at: Date | null;
  after_user: string | null;
  members: number;
  processed: number;
  enrolled: number;
  excluded: Record<string, number>;
  cancel_reason: CancelReason | null;
};

const COLUMNS = `project_id, id, rule_id, state, started_at, ended_at, next_at, after_user, members, processed, enrolled, excluded,
  cancel_reason`;

export async function insertEnrollment(tx: Tx, enrollment: Enrollment): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.rule_enrollment (project_id, id, rule_id, state, started_at, ended_at, next_at, after_user, members,
       processed, enrolled, excluded, cancel_reason) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    valuesOf(enrollment),
  );
}

export async function updateEnrollment(tx: Tx, enrollment: Enrollment): Promise<void> {
  const { projectId, id, state, endedAt, nextAt, afterUser, processed, enrolled, excluded } = enrollment;
  await tx.query(
    `UPDATE beckon.rule_enrollment SET state = $3, ended_at = $4, next_at = $5, after_user = $6, processed = $7, enrolled = $8,
       excluded = $9 WHERE project_id = $1 AND id = $2`,
    [projectId, id, state, dateOf(endedAt), dateOf(nextAt), afterUser, processed, enrolled, excluded],
  );
}

/** Cancels the running enrollment of a rule, if there is one. Users who are enrolled already stay enrolled. */
export async function cancelEnrollment(
  tx: Tx,
  {
    projectId,
    ruleId,
    reason,
    now,
  }: { projectId: number; ruleId: string; reason: CancelReason; now: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.rule_enrollment SET state = 'canceled', ended_at = $3, next_at = NULL, after_user = NULL,
       cancel_reason = $4
     WHERE project_id = $1 AND rule_id = $2 AND state = 'running'`,
    [projectId, ruleId, new Date(now), reason],
  );
}

export async function findRunningEnrollment(
  tx: Tx,
  { projectId, ruleId }: { projectId: number; ruleId: string },
): Promise<Enrollment | null> {
  const rows = await tx.query<Row>(
    `SELECT ${COLUMNS} FROM beckon.rule_enrollment WHERE project_id = $1 AND rule_id = $2 AND state = 'running'`,
    [projectId, ruleId],
  );
  return rows[0] ? fromRow(rows[0]) : null;
}

export async function listRunningEnrollments(tx: Tx, projectIds: number[]): Promise<Enrollment[]> {
  const rows = await tx.query<Row>(
    `SELECT ${COLUMNS} FROM beckon.rule_enrollment WHERE project_id = ANY ($1::bigint[]) AND state = 'running'
     ORDER BY project_id, id`,
    [projectIds],
  );
  return rows.map(fromRow);
}

/** The newest enrollment of a rule, running or ended. */
export async function findLatestEnrollment(
  tx: Tx,
  { projectId, ruleId }: { projectId: number; ruleId: string },
): Promise<Enrollment | null> {
  const rows = await tx.query<Row>(
    `SELECT ${COLUMNS} FROM beckon.rule_enrollment WHERE project_id = $1 AND rule_id = $2 ORDER BY id DESC LIMIT 1`,
    [projectId, ruleId],
  );
  return rows[0] ? fromRow(rows[0]) : null;
}

/** The running enrollment that has waited longest, if its next batch is due by `until`. Several are served round-robin. */
export async function findDueEnrollment(
  tx: Tx,
  { projectId, until }: { projectId: number; until: number },
): Promise<Enrollment | null> {
  const rows = await tx.query<Row>(
    `SELECT ${COLUMNS} FROM beckon.rule_enrollment WHERE project_id = $1 AND state = 'running' AND next_at <= $2
     ORDER BY next_at, id LIMIT 1`,
    [projectId, new Date(until)],
  );
  return rows[0] ? fromRow(rows[0]) : null;
}

export async function nextEnrollmentAt(tx: Tx, projectId: number): Promise<Date | null> {
  const rows = await tx.query<{ at: Date | null }>(
    `SELECT min(next_at) AS at FROM beckon.rule_enrollment WHERE project_id = $1 AND state = 'running'`,
    [projectId],
  );
  return rows[0]?.at ?? null;
}

/** Moves a cursor that points to an erased user to the user before, so that no id of an erased user is kept. */
export async function leaveEnrollments(
  tx: Tx,
  { projectId, userId, before }: { projectId: number; userId: string; before: string | null },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.rule_enrollment SET after_user = $3 WHERE project_id = $1 AND after_user = $2`,
    [projectId, userId, before],
  );
}

function valuesOf(enrollment: Enrollment): unknown[] {
  const { projectId, id, ruleId, state, startedAt, endedAt, nextAt, afterUser, ...counts } = enrollment;
  const { members, processed, enrolled, excluded, cancelReason } = counts;
  const moments = [new Date(startedAt), dateOf(endedAt), dateOf(nextAt)];
  return [
    projectId,
    id,
    ruleId,
    state,
    ...moments,
    afterUser,
    members,
    processed,
    enrolled,
    excluded,
    cancelReason,
  ];
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function fromRow(row: Row): Enrollment {
  const { id, state, members, processed, enrolled, excluded } = row;
  return {
    projectId: row.project_id,
    id,
    ruleId: row.rule_id,
    state,
    startedAt: row.started_at.getTime(),
    endedAt: row.ended_at?.getTime() ?? null,
    nextAt: row.next_at?.getTime() ?? null,
    afterUser: row.after_user,
    members,
    processed,
    enrolled,
    excluded,
    cancelReason: row.cancel_reason,
  };
}
