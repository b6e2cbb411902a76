import type { Tx } from '../../../platform/db/statements.ts';

/** Rows of `team_passkey`, and those rows of `team_verification` that hold a passkey challenge. */
export type PasskeyRow = {
  id: string;
  userId: string;
  name: string;
  credentialId: string;
  /** COSE, in Base64. */
  publicKey: string;
  counter: number;
  deviceType: string;
  isBackedUp: boolean;
  transports: string;
  aaguid: string;
  createdAt: Date;
};

/** Returns false if the credential is registered already, for this member or another. */
export async function insertPasskey(tx: Tx, row: PasskeyRow): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO beckon.team_passkey (id, user_id, name, credential_id, public_key, counter, device_type, backed_up,
       transports, aaguid, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     ON CONFLICT (credential_id) DO NOTHING RETURNING 1`,
    [
      row.id,
      row.userId,
      row.name,
      row.credentialId,
      row.publicKey,
      row.counter,
      row.deviceType,
      row.isBackedUp,
      row.transports,
      row.aaguid,
      row.createdAt,
    ],
  );
  return rows.length > 0;
}

/**
 * Stores the authenticator's usage counter. Returns false if the stored counter is not lower, which means that another copy of the passkey
 * was used in between. Many authenticators do not count and always report 0.
 */
export async function advanceCounter(
  tx: Tx,
  { id, counter }: { id: string; counter: number },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.team_passkey SET counter = $2 WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING 1`,
    [id, counter],
  );
  return rows.length > 0;
}

export async function deletePasskey(
  tx: Tx,
  { id, userId }: { id: string; userId: string },
): Promise<string | null> {
  const rows = await tx.query<{ name: string | null }>(
    `DELETE FROM beckon.team_passkey WHERE id = $1 AND user_id = $2 RETURNING coalesce(name, 'Passkey') AS name`,
    [id, userId],
  );
  return rows[0]?.name ?? null;
}

/** Returns the number of deleted passkeys. */
export async function deletePasskeys(tx: Tx, userId: string): Promise<number> {
  const rows = await tx.query(`DELETE FROM beckon.team_passkey WHERE user_id = $1 RETURNING 1`, [userId]);
  return rows.length;
}

export type ChallengeRow = { id: string; identifier: string; value: string; at: Date; expiresAt: Date };

export async function insertChallenge(
  tx: Tx,
  { id, identifier, value, at, expiresAt }: ChallengeRow,
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.team_verification (id, identifier, value, expires_at, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $5)`,
    [id, identifier, value, expiresAt, at],
  );
}

/** Deletes the challenge while reading it: of two concurrent answers, only one is checked. */
export async function takeChallengeValue(
  tx: Tx,
  { identifier, now }: { identifier: string; now: Date },
): Promise<string | null> {
  const rows = await tx.query<{ value: string; isLive: boolean }>(
    `DELETE FROM beckon.team_verification WHERE identifier = $1 RETURNING value, expires_at > $2 AS "isLive"`,
    [identifier, now],
  );
  return rows[0]?.isLive ? rows[0].value : null;
}
