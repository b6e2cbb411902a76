import type { Tx } from '../../platform/db/statements.ts';

/** Returns those of these keys, in hex, that are already stored. */
export async function findKnownKeys(tx: Tx, projectId: number, keys: string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await tx.query<{ key: string }>(
    `SELECT k.key FROM unnest($2::text[]) AS k(key)
     JOIN beckon.event_dedupe d ON d.project_id = $1 AND d.dedupe_key = decode(k.key, 'hex')`,
    [projectId, keys],
  );
  return new Set(rows.map(({ key }) => key));
}
