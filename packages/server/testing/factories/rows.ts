import type { Tx } from '../../src/platform/db/statements.ts';

/**
 * Inserts rows directly, without the code that normally writes them. It is for tests that read a state, whatever its history. Columns that
 * are not named are null.
 */
export async function insertRows(tx: Tx, table: string, rows: Record<string, unknown>[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.${table} SELECT * FROM jsonb_populate_recordset(NULL::beckon.${table}, $1::jsonb)`,
    [JSON.stringify(rows)],
  );
}

/** Inserts this many equal rows with a new id in each of the named columns. */
export async function insertMany(
  tx: Tx,
  table: string,
  { count, row, ids }: { count: number; row: Record<string, unknown>; ids: string[] },
): Promise<void> {
  const fresh = ids.map((column) => `'${column}', gen_random_uuid()`).join(', ');
  await tx.query(
    `INSERT INTO beckon.${table} SELECT r.* FROM generate_series(1, $2::int) n
     CROSS JOIN LATERAL jsonb_populate_record(NULL::beckon.${table}, $1::jsonb || jsonb_build_object('n', n, ${fresh})) r`,
    [JSON.stringify(row), count],
  );
}
