import type { Tx } from '../../io/db/index.ts';

/** `digest_turn` and `tenant_due`. */
export async function insertTurn(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`INSERT INTO beckon.digest_turn (project_id, model) VALUES ($1, 0)`, [projectId]);
  await tx.query(`INSERT INTO beckon.tenant_due (project_id) VALUES ($1)`, [projectId]);
}

export type TurnRow = { project_id: number; model: number };

/** Those of the projects whose turn nobody else has. */
export function lockFreeTurns(tx: Tx, projectIds: number[]): Promise<TurnRow[]> {
  return tx.prepared({
    name: 'turns.take',
    text: `SELECT project_id, model FROM beckon.digest_turn WHERE project_id = ANY ($1::bigint[])
           ORDER BY project_id FOR UPDATE SKIP LOCKED`,
    values: [projectIds],
  });
}

/** Waits for whoever has the turn. */
export async function lockTurn(tx: Tx, projectId: number): Promise<TurnRow | undefined> {
  const rows = await tx.query<TurnRow>(
    `SELECT project_id, model FROM beckon.digest_turn WHERE project_id = $1 FOR UPDATE`,
    [projectId],
  );
  return rows[0];
}

export async function updateModel(tx: Tx, projectId: number): Promise<number> {
  const rows = await tx.query<{ model: number }>(
    `UPDATE beckon.digest_turn SET model = model + 1 WHERE project_id = $1 RETURNING model`,
    [projectId],
  );
  return rows[0]?.model ?? 0;
}

export type DueRow = { project_id: number; next_at: Date };

/** Projects with something due, the longest overdue first. */
export function listDue(tx: Tx, now: Date, limit: number): Promise<DueRow[]> {
  return tx.prepared({
    name: 'turns.due',
    text: `SELECT project_id, next_at FROM beckon.tenant_due WHERE next_at <= $1 ORDER BY next_at LIMIT $2`,
    values: [now, limit],
  });
}

/** Reads a sister's table, `inbox`: whether anything at all waits anywhere, or is due. An idle worker asks this all the time. */
export async function findAnyWork(tx: Tx, now: Date): Promise<boolean> {
  const rows = await tx.prepared<{ some: boolean }>({
    name: 'turns.any_work',
    text: `SELECT EXISTS (SELECT 1 FROM beckon.inbox) OR EXISTS (SELECT 1 FROM beckon.tenant_due WHERE next_at <= $1) AS some`,
    values: [now],
  });
  return rows[0]?.some ?? false;
}

/** Locks first and looks in a new statement: who waited for the lock must see what its holder wrote. */
export async function lockDue(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`SELECT 1 FROM beckon.tenant_due WHERE project_id = $1 FOR UPDATE`, [projectId]);
}

export async function updateDue(tx: Tx, projectId: number, nextAt: Date | null): Promise<void> {
  await tx.query(`UPDATE beckon.tenant_due SET next_at = $2 WHERE project_id = $1`, [projectId, nextAt]);
}

/** Moves forward only: what is due sooner stays so. Locked in order, as everybody does who takes several. */
export async function updateDueEarlier(tx: Tx, rows: DueRow[]): Promise<void> {
  await tx.prepared({
    name: 'turns.due_earlier',
    text: `WITH sooner AS MATERIALIZED (
             SELECT d.project_id, s.at FROM unnest($1::bigint[], $2::timestamptz[]) AS s(project_id, at)
             JOIN beckon.tenant_due d ON d.project_id = s.project_id
             WHERE d.next_at IS NULL OR d.next_at > s.at
             ORDER BY d.project_id FOR UPDATE OF d
           )
           UPDATE beckon.tenant_due AS d SET next_at = least(d.next_at, s.at) FROM sooner s WHERE d.project_id = s.project_id`,
    values: [rows.map((row) => row.project_id), rows.map((row) => row.next_at)],
  });
}
