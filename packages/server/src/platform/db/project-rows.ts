import type { Tx } from './statements.ts';

/**
 * Copies all rows of a project, in any module: every tenant table begins with `project_id`. So a project can be copied to another database,
 * or deleted from one, without naming a table. Neither happens in normal operation.
 */
export async function copyProject(from: Tx, to: Tx, projectId: number): Promise<number> {
  let copied = 0;
  for (const table of await tenantTables(to)) copied += await copyTable({ from, to }, table, projectId);
  return copied;
}

/**
 * Copies rows of these tables from one project to another in the same database. The ids stay the same, and expressions replace the given
 * columns.
 */
export async function copyRows(
  tx: Tx,
  { from, to }: { from: number; to: number },
  tables: Record<string, { only?: string; columns?: Record<string, string> }>,
): Promise<void> {
  const allTables = await tenantTables(tx);
  for (const [name, { only = 'true', columns: changed = {} }] of Object.entries(tables)) {
    const columns = allTables.find((table) => table.name === name)?.columns;
    if (columns === undefined) throw new Error(`there is no table ${name} of projects`);
    const values = columns
      .split(', ')
      .map((column) => (column === 'project_id' ? '$2::bigint' : (changed[column] ?? column)));
    await tx.query(
      `INSERT INTO beckon."${name}" (${columns}) SELECT ${values.join(', ')} FROM beckon."${name}" WHERE project_id = $1 AND ${only}`,
      [from, to],
    );
  }
}

export async function deleteProject(tx: Tx, projectId: number): Promise<number> {
  let deleted = 0;
  for (const table of (await tenantTables(tx)).toReversed()) {
    const rows = await tx.query<{ count: number }>(
      `WITH gone AS (DELETE FROM beckon."${table.name}" WHERE project_id = $1 RETURNING 1) SELECT count(*) AS count FROM gone`,
      [projectId],
    );
    deleted += rows[0]?.count ?? 0;
  }
  return deleted;
}

/** `columns`: all but generated columns. */
type Table = { name: string; columns: string; needs: string[] };

/** Returns referenced tables first. */
async function tenantTables(tx: Tx): Promise<Table[]> {
  const tables = await tx.query<Table>(
    `SELECT c.relname::text AS name,
       (SELECT string_agg(quote_ident(n.attname), ', ') FROM pg_attribute n
        WHERE n.attrelid = c.oid AND n.attnum > 0 AND NOT n.attisdropped AND n.attgenerated = '') AS columns,
       array(
       SELECT f.confrelid::regclass::text FROM pg_constraint f
       WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS needs
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
     WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     ORDER BY c.relname`,
  );
  const ordered: Table[] = [];
  for (let remaining = tables; remaining.length > 0;) {
    const free = remaining.filter(
      ({ needs }) => !needs.some((need) => remaining.some(({ name }) => isNamed(need, name))),
    );
    if (free.length === 0) throw new Error('the tables of a project refer to each other in a circle');
    ordered.push(...free);
    remaining = remaining.filter((table) => !free.includes(table));
  }
  return ordered;
}

function isNamed(reference: string, table: string): boolean {
  return reference.replaceAll('"', '').replace('beckon.', '') === table;
}

const ROWS_AT_ONCE = 500;

type CopyEnds = { from: Tx; to: Tx };

/** `from` is in a transaction: the rows are read with a cursor, each as one JSON value, which can represent every column. */
async function copyTable(
  { from, to }: CopyEnds,
  { name, columns }: Table,
  projectId: number,
): Promise<number> {
  await from.query(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT to_jsonb(t)::text AS row FROM beckon."${name}" t WHERE t.project_id = ${projectId}`,
  );
  let copied = 0;
  for (;;) {
    const rows = await from.query<{ row: string }>(`FETCH ${ROWS_AT_ONCE} FROM copied`);
    if (rows.length > 0)
      await to.query(
        `INSERT INTO beckon."${name}" (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::beckon."${name}", $1::jsonb)`,
        [`[${rows.map(({ row }) => row).join(',')}]`],
      );
    copied += rows.length;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await from.query('CLOSE copied');
  return copied;
}
