/** Writes `run`; `reads.ts` reads it. */

import { momentList, plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { EndReason, Run } from './run.ts';

export type RunPerson = { projectId: number; userId: string };

/**
 * Inserts runs and returns the ids of those that started. If the rule allows one run per user at a time, a run does not start while another
 * is open. If one call has two such runs, the first starts.
 */
export async function insertRuns(tx: Tx, runs: Run[]): Promise<Set<string>> {
  if (runs.length === 0) return new Set();
  const rows = await tx.prepared<{ id: string }>({
    name: 'sequences.insert',
    text: `INSERT INTO beckon.run (project_id, id, rule_id, version, external_user_id, key, state, variant, single, step, waits_for,
             next_at, anchor, ends_at, enrolled_at, goal_until, converted_at, ended_at, end_reason)
           SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::boolean[], $10::integer[], $11::text[], $12::timestamptz[], $13::jsonb[], $14::timestamptz[], $15::timestamptz[],
             $16::timestamptz[], $17::timestamptz[], $18::timestamptz[], $19::text[])
           ON CONFLICT (project_id, rule_id, external_user_id) WHERE single AND state <> 'ended' DO NOTHING
           RETURNING id`,
    values: [
      plainList(runs.map((run) => run.projectId)),
      plainList(runs.map((run) => run.id)),
      plainList(runs.map((run) => run.ruleId)),
      plainList(runs.map((run) => run.version)),
      runs.map((run) => run.userId),
      runs.map((run) => run.key),
      plainList(runs.map((run) => run.state)),
      plainList(runs.map((run) => run.variant)),
      plainList(runs.map((run) => run.single)),
      plainList(runs.map((run) => run.step)),
      plainList(runs.map((run) => run.waitsFor)),
      momentList(runs.map((run) => run.nextAt)),
      runs.map((run) => JSON.stringify(run.anchor)),
      momentList(runs.map((run) => run.endsAt)),
      momentList(runs.map((run) => run.enrolledAt)),
      momentList(runs.map((run) => run.goalUntil)),
      momentList(runs.map((run) => run.convertedAt)),
      momentList(runs.map((run) => run.endedAt)),
      plainList(runs.map((run) => run.endReason)),
    ],
  });
  return new Set(rows.map((row) => row.id));
}

/** Updates the position and state of runs. Their user and their anchor do not change. */
export async function updateRuns(tx: Tx, runs: Run[]): Promise<void> {
  if (runs.length === 0) return;
  const inOrder = runs.toSorted((a, b) => a.projectId - b.projectId || (a.id < b.id ? -1 : 1));
  await tx.prepared({
    name: 'sequences.update',
    text: `UPDATE beckon.run r SET state = n.state, step = n.step, waits_for = n.waits_for, next_at = n.next_at, ends_at = n.ends_at,
             goal_until = n.goal_until, converted_at = n.converted_at, ended_at = n.ended_at, end_reason = n.end_reason,
             lost_ms = n.lost_ms
           FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::integer[], $5::text[], $6::timestamptz[], $7::timestamptz[],
             $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::text[], $12::bigint[])
             AS n(project_id, id, state, step, waits_for, next_at, ends_at, goal_until, converted_at, ended_at, end_reason, lost_ms)
           WHERE r.project_id = n.project_id AND r.id = n.id`,
    values: [
      plainList(inOrder.map((run) => run.projectId)),
      plainList(inOrder.map((run) => run.id)),
      plainList(inOrder.map((run) => run.state)),
      plainList(inOrder.map((run) => run.step)),
      plainList(inOrder.map((run) => run.waitsFor)),
      momentList(inOrder.map((run) => run.nextAt)),
      momentList(inOrder.map((run) => run.endsAt)),
      momentList(inOrder.map((run) => run.goalUntil)),
      momentList(inOrder.map((run) => run.convertedAt)),
      momentList(inOrder.map((run) => run.endedAt)),
      plainList(inOrder.map((run) => run.endReason)),
      plainList(inOrder.map((run) => run.lostMs)),
    ],
  });
}

/**
 * Continues runs whose drafts have ended: an active run now, a paused one when it is resumed. Skips runs that have ended or
 * wait for something else. Returns the ids of the runs that continue.
 */
export async function wakeRuns(
  tx: Tx,
  { projectId, ids, at }: { projectId: number; ids: string[]; at: number },
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx.prepared<{ id: string }>({
    name: 'sequences.wake',
    text: `WITH waiting AS MATERIALIZED (
             SELECT id FROM beckon.run
             WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state <> 'ended' AND waits_for = 'draft' ORDER BY id FOR UPDATE
           )
           UPDATE beckon.run r SET waits_for = 'time', next_at = $3 FROM waiting w
           WHERE r.project_id = $1 AND r.id = w.id RETURNING r.id`,
    values: [projectId, plainList(ids), new Date(at)],
  });
  return rows.map((row) => row.id);
}

/** Sets the lost time of open runs: a restore lost this much time, in which an email of each may have been sent. */
export async function setLostTime(
  tx: Tx,
  { projectId, ids, lostMs }: { projectId: number; ids: string[]; lostMs: number },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `WITH doubted AS MATERIALIZED (
       SELECT id FROM beckon.run WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state <> 'ended' ORDER BY id FOR UPDATE
     )
     UPDATE beckon.run r SET lost_ms = $3 FROM doubted d WHERE r.project_id = $1 AND r.id = d.id`,
    [projectId, plainList(ids), lostMs],
  );
}

/** Ends runs, whatever they wait for. Runs that have ended stay as they are. */
export async function endRuns(
  tx: Tx,
  { projectId, ids, reason, at }: { projectId: number; ids: string[]; reason: EndReason; at: number },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `WITH ending AS MATERIALIZED (
       SELECT id FROM beckon.run WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state <> 'ended' ORDER BY id FOR UPDATE
     )
     UPDATE beckon.run r SET state = 'ended', waits_for = NULL, next_at = NULL, ended_at = $4, end_reason = $3
     FROM ending e WHERE r.project_id = $1 AND r.id = e.id`,
    [projectId, plainList(ids), reason, new Date(at)],
  );
}

/** Makes a run wait for its draft again, because the end of the draft was undone before the run continued. */
export async function waitAgain(
  tx: Tx,
  { projectId, id, step }: { projectId: number; id: string; step: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.run SET waits_for = 'draft', next_at = NULL
     WHERE project_id = $1 AND id = $2 AND step = $3 AND state <> 'ended' AND waits_for = 'time'`,
    [projectId, id, step],
  );
}

/** Returns the number of runs paused. A wait that ends while a run is paused takes effect when the run is resumed. */
export function pauseRuns(tx: Tx, projectId: number, ruleId: string): Promise<number> {
  return setState(tx, { projectId, ruleId, from: 'active', to: 'paused' });
}

/** Returns the number of runs resumed. Runs that became due while paused are due immediately. */
export function resumeRuns(tx: Tx, projectId: number, ruleId: string): Promise<number> {
  return setState(tx, { projectId, ruleId, from: 'paused', to: 'active' });
}

type StateChange = { projectId: number; ruleId: string; from: Run['state']; to: Run['state'] };

async function setState(tx: Tx, { projectId, ruleId, from, to }: StateChange): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `WITH held AS MATERIALIZED (
       SELECT id FROM beckon.run
       WHERE project_id = $1 AND rule_id = $2 AND state = $3 AND state <> 'ended' ORDER BY id FOR UPDATE
     ), changed AS (
       UPDATE beckon.run r SET state = $4 FROM held h WHERE r.project_id = $1 AND r.id = h.id RETURNING 1
     )
     SELECT count(*) AS count FROM changed`,
    [projectId, ruleId, from, to],
  );
  return rows[0]?.count ?? 0;
}

/** The position of runs of an older version. */
export type RunPosition = { version: number; step: number };

/** Moves the runs at these positions to another version of their rule. Returns their number. */
export async function updateVersions(
  tx: Tx,
  change: { projectId: number; ruleId: string; positions: RunPosition[]; to: number },
): Promise<number> {
  const { projectId, ruleId, positions, to } = change;
  const rows = await tx.query<{ count: number }>(
    `WITH held AS MATERIALIZED (
       SELECT r.id FROM unnest($3::integer[], $4::integer[]) AS p(version, step)
       JOIN beckon.run r ON r.project_id = $1 AND r.rule_id = $2 AND r.version = p.version AND r.step = p.step
       WHERE r.state <> 'ended' ORDER BY r.id FOR UPDATE OF r
     ), changed AS (
       UPDATE beckon.run r SET version = $5 FROM held h WHERE r.project_id = $1 AND r.id = h.id RETURNING 1
     )
     SELECT count(*) AS count FROM changed`,
    [
      projectId,
      ruleId,
      plainList(positions.map((position) => position.version)),
      plainList(positions.map((position) => position.step)),
      to,
    ],
  );
  return rows[0]?.count ?? 0;
}

/** Deletes the runs of a user. Returns their number. */
export async function eraseRuns(tx: Tx, { projectId, userId }: RunPerson): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.run WHERE project_id = $1 AND external_user_id = $2 RETURNING 1`,
    [projectId, userId],
  );
  return rows.length;
}
