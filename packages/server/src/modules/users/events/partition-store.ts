import type { Tx } from '../../../platform/db/statements.ts';

export type Month = { name: string; from: string; to: string };

type Deps = { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> };

export async function listPartitions(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'beckon.event'::regclass`,
  );
  return rows.map((row) => row.name);
}

const LOCK_TIMEOUT = '200ms';

/**
 * Creates a plain table and then attaches it, which takes a lock that does not block access to other months. The CHECK constraint avoids a
 * scan. The short lock timeout keeps other transactions from queueing behind this one, and the caller retries later.
 */
export async function attachPartition(db: Deps, { name, from, to }: Month): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    // Serializes processes that create the same month. The second one finds it there.
    await tx.query(`SELECT pg_advisory_xact_lock(hashtext($1))`, [`beckon ${name}`]);
    const rows = await tx.query(`SELECT 1 AS there FROM pg_inherits WHERE inhrelid = to_regclass($1)`, [
      `beckon.${name}`,
    ]);
    if (rows.length > 0) return;
    await tx.query(`CREATE TABLE IF NOT EXISTS beckon.${name} (LIKE beckon.event INCLUDING DEFAULTS,
      CHECK (received_at >= '${from}' AND received_at < '${to}'))`);
    await tx.query(
      `ALTER TABLE beckon.event ATTACH PARTITION beckon.${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
    );
  });
}

export async function dropPartition(db: Deps, name: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await tx.query(`ALTER TABLE beckon.event DETACH PARTITION beckon.${name}`);
    await tx.query(`DROP TABLE beckon.${name}`);
  });
}

export async function isPartitionEmpty(tx: Tx, name: string): Promise<boolean> {
  const rows = await tx.query(`SELECT 1 AS there FROM beckon.${name} LIMIT 1`);
  return rows.length === 0;
}
