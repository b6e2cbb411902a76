import type { Tx } from '../src/io/db/index.ts';

/**
 * Rows as they are, past all that would make them: for tests that ask what is seen of a state, and not how it comes about. A
 * column that is not named is null.
 */
export async function insertRows(tx: Tx, table: string, rows: Record<string, unknown>[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.${table} SELECT * FROM jsonb_populate_recordset(NULL::beckon.${table}, $1::jsonb)`,
    [JSON.stringify(rows)],
  );
}

/** So many rows alike, but for the columns named here, each of which is a new id. */
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
