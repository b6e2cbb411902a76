import type { Tx } from './statements.ts';

/**
 * Runs a statement that selects the fields of a response by their names in the API. Times become text as everywhere in the API, so no
 * function has to copy the rows.
 */
export async function readAs<T extends object>(
  tx: Pick<Tx, 'query'>,
  text: string,
  values: unknown[] = [],
): Promise<T[]> {
  const rows = await tx.query<Record<string, unknown>>(text, values);
  for (const row of rows)
    for (const [name, value] of Object.entries(row))
      if (value instanceof Date) row[name] = value.toISOString();
  return rows as T[];
}
