import type { Tx } from '../../../platform/db/statements.ts';

/** Rows of `team_session`. better-auth inserts most of them; those for passkeys are inserted here. */
export type NewSession = {
  id: string;
  userId: string;
  token: string;
  address: string;
  userAgent: string;
  at: Date;
  validForS: number;
};

/** Sets the expiry by the clock of the database, against which every request is checked. */
export async function insertSession(tx: Tx, row: NewSession): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.team_session (id, user_id, token, ip_address, user_agent, created_at, updated_at, confirmed_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6, $6, now() + make_interval(secs => $7))`,
    [row.id, row.userId, row.token, row.address, row.userAgent, row.at, row.validForS],
  );
}

export async function updateConfirmed(tx: Tx, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx.query(`UPDATE beckon.team_session SET confirmed_at = $2 WHERE id = $1`, [id, at]);
}

/** Replaces the token of a session. The old cookie stops working, and the same session continues with the new one. */
export async function updateSessionToken(
  tx: Tx,
  { id, token }: { id: string; token: string },
): Promise<void> {
  await tx.query(`UPDATE beckon.team_session SET token = $2 WHERE id = $1`, [id, token]);
}

/** Returns the number of ended sessions. `except`: the session that stays. */
export async function deleteSessions(
  tx: Tx,
  { userId, only = null, except = null }: { userId: string; only?: string | null; except?: string | null },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.team_session WHERE user_id = $1 AND ($2::text IS NULL OR id = $2)
       AND ($3::text IS NULL OR id <> $3) RETURNING id`,
    [userId, only, except],
  );
  return rows.length;
}

export async function deleteSessionByToken(tx: Tx, token: string): Promise<void> {
  await tx.query(`DELETE FROM beckon.team_session WHERE token = $1`, [token]);
}
