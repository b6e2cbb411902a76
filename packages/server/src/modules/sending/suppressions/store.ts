import type { Tx } from '../../../platform/db/statements.ts';

/** A row of `suppression_key`, which has only one. */
export type SuppressionKeyRow = { encrypted: Buffer };

export async function findEncryptedKey(tx: Tx): Promise<SuppressionKeyRow | undefined> {
  const [row] = await tx.query<SuppressionKeyRow>(
    `SELECT encrypted_key AS encrypted FROM beckon.suppression_key`,
  );
  return row;
}

/** Keeps a key that another process stored first. */
export async function insertEncryptedKey(
  tx: Tx,
  row: SuppressionKeyRow & { createdAt: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.suppression_key (encrypted_key, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
    [row.encrypted, row.createdAt],
  );
}

export async function updateEncryptedKey(tx: Tx, { encrypted }: SuppressionKeyRow): Promise<void> {
  await tx.query(`UPDATE beckon.suppression_key SET encrypted_key = $1`, [encrypted]);
}
