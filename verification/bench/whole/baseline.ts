import type pg from 'pg';
import {
  type Baseline,
  columnsOf,
  repeatRows,
  type Row,
  rowsOf,
  stepOf,
  unique,
  type WriteCounts,
} from '../processing/baseline.ts';
import { withClient } from '../fill.ts';
import { CHUNK } from '../processing/records.ts';

/**
 * The baseline of the whole path: a minimal loop writes all rows of a run, in any table, again into tables of the same shape. It works as
 * `processing/baseline.ts` does, but takes the tables from PostgreSQL's statistics instead of a list.
 *
 * Left out, in favor of the baseline: the rows that the run deleted (from its queue above all), and the rows of that queue.
 */
const EXCLUDED_TABLES = new Set(['ingest_queue', 'kysely_migration', 'kysely_migration_lock']);
const TABLES = `
  SELECT c.relname AS name, c.relkind = 'p' AS parted, pg_get_partkeydef(c.oid) AS by FROM pg_class c
  WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`;
const PARTS = `
  SELECT p.relname AS parent, c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
  WHERE p.relnamespace = 'beckon'::regnamespace AND c.relkind IN ('r', 'p') AND p.relkind = 'p'`;

type Table = { name: string; parted: boolean; by: string | null };

/** Copies the rows that the run's writes find. */
export function copyTables(url: string): Promise<void> {
  return withClient(url, async (client) => {
    await client.query('DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare');
    const tables = await tablesOf(client);
    for (const { name, parted, by } of tables)
      await client.query(
        `CREATE TABLE bare."${name}" (LIKE beckon."${name}" INCLUDING ALL)${parted ? ` PARTITION BY ${by}` : ''}`,
      );
    const { rows } = await client.query<{ parent: string; name: string; bound: string }>(PARTS);
    for (const { parent, name, bound } of rows)
      await client.query(`CREATE TABLE bare."${name}" PARTITION OF bare."${parent}" ${bound}`);
    for (const { name } of tables) {
      const columns = (await columnsOf(client, name)).map((column) => `"${column.name}"`).join(', ');
      await client.query(`INSERT INTO bare."${name}" (${columns}) SELECT ${columns} FROM beckon."${name}"`);
    }
  });
}

/** `written` comes from PostgreSQL's statistics. A row that was written several times is written as often, in its last state. */
export function openBaseline(
  url: string,
  { projectId, writeResult }: { projectId: number; writeResult: WriteCounts },
): Promise<Baseline> {
  return withClient(url, async (client) => {
    const partOf = new Map(
      (await client.query<{ parent: string; name: string }>(PARTS)).rows.map(({ parent, name }) => [
        name,
        parent,
      ]),
    );
    const writesByTable = new Map<string, number>();
    for (const [name, { put }] of writeResult) {
      const table = partOf.get(name) ?? name;
      writesByTable.set(table, (writesByTable.get(table) ?? 0) + put);
    }
    const parts: Part[] = [];
    for (const { name } of await tablesOf(client)) {
      const put = writesByTable.get(name) ?? 0;
      if (put === 0) continue;
      const columns = await columnsOf(client, name);
      if (!columns.some((column) => column.name === 'project_id')) continue;
      const rest = `EXCEPT SELECT * FROM bare."${name}" WHERE project_id = ${projectId}`;
      const rows = repeatRows(await rowsOf(client, { name, columns, projectId, rest }), put);
      if (rows.length > 0) parts.push({ name, columns, rows });
    }
    return inBatches(parts);
  });
}

type Part = { name: string; columns: Awaited<ReturnType<typeof columnsOf>>; rows: Row[] };

function inBatches(parts: Part[]): Baseline {
  const batches = Math.max(1, Math.ceil(Math.max(...parts.map(({ rows }) => rows.length)) / CHUNK));
  return Array.from({ length: batches }, (_, nth) =>
    parts.flatMap(({ name, columns, rows }) => {
      const from = (at: number): number => Math.floor((at * rows.length) / batches);
      const batchRows = unique(rows.slice(from(nth), from(nth + 1)), columns);
      const kind = columns.some(({ inKey }) => !inKey) ? 'upsert' : 'ignore';
      return batchRows.length === 0 ? [] : [stepOf({ name, columns, kind, rows: batchRows })];
    }),
  );
}

async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(TABLES);
  return rows.filter(({ name }) => !EXCLUDED_TABLES.has(name));
}
