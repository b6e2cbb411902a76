import type { Tx } from '../../../platform/db/statements.ts';

/** A row of `suppression_key`, which has only one. */
export type SealedKey = { sealed: Buffer };

export async function findSealedKey(tx: Tx): Promise<SealedKey | undefined> {
  const [row] = await tx.query<SealedKey>(`SELECT sealed FROM beckon.suppression_key`);
  return row;
}

/** Keeps a key that another process stored first. */
export async function insertSealedKey(tx: Tx, row: SealedKey & { createdAt: Date }): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.suppression_key (sealed, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
    [row.sealed, row.createdAt],
  );
}

export async function updateSealedKey(tx: Tx, { sealed }: SealedKey): Promise<void> {
  await tx.query(`UPDATE beckon.suppression_key SET sealed = $1`, [sealed]);
}
