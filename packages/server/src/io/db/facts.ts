import type { Tx } from './statements.ts';
import { SCHEMA } from './migrate.ts';

export type DatabaseFacts = {
  postgres: string;
  /** The last migration that was applied. */
  schema: string;
  bytes: number;
  /** The largest, with their indexes and partitions; rows as the planner guesses them. */
  tables: { name: string; bytes: number; rows: number }[];
};

const TABLES_SHOWN = 12;

/** What PostgreSQL says of itself and of our tables. */
export async function databaseFacts(tx: Tx): Promise<DatabaseFacts> {
  const [about] = await tx.query<{ postgres: string; schema: string; bytes: number }>(
    `SELECT current_setting('server_version') AS postgres, pg_database_size(current_database()) AS bytes,
            (SELECT name FROM ${SCHEMA}.kysely_migration ORDER BY name DESC LIMIT 1) AS schema`,
  );
  const tables = await tx.query<{ name: string; bytes: number; rows: number }>(
    `SELECT coalesce(pg_partition_root(c.oid), c.oid)::regclass::text AS name,
            sum(pg_total_relation_size(c.oid))::bigint AS bytes, sum(greatest(c.reltuples, 0))::bigint AS rows
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = '${SCHEMA}' AND c.relkind = 'r'
     GROUP BY 1 ORDER BY bytes DESC LIMIT $1`,
    [TABLES_SHOWN],
  );
  if (!about) throw new Error('PostgreSQL says nothing of itself');
  return {
    ...about,
    tables: tables.map((table) => ({ ...table, name: table.name.replace(`${SCHEMA}.`, '') })),
  };
}
