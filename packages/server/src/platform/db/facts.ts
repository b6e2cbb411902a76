import { SCHEMA } from './schema-state.ts';
import type { Tx } from './statements.ts';

export type DatabaseFacts = {
  postgres: string;
  /** The last applied migration. */
  schema: string;
};

type StorageFacts = {
  bytes: number;
  /** The largest tables, with their indexes and partitions; row counts are planner estimates. */
  tables: { name: string; bytes: number; rows: number }[];
};

const TABLES_SHOWN = 12;

/** Reads the versions of PostgreSQL and of the schema. */
export async function databaseFacts(tx: Tx): Promise<DatabaseFacts> {
  const [about] = await tx.query<DatabaseFacts>(
    `SELECT current_setting('server_version') AS postgres,
            (SELECT name FROM ${SCHEMA}.kysely_migration ORDER BY name DESC LIMIT 1) AS schema`,
  );
  if (!about) throw new Error('PostgreSQL returned no facts about itself');
  return about;
}

/** Reads the size of the database and of its largest tables, including all projects and the accounts of members. */
export async function storageFacts(tx: Tx): Promise<StorageFacts> {
  const [size] = await tx.query<{ bytes: number }>(`SELECT pg_database_size(current_database()) AS bytes`);
  const tables = await tx.query<{ name: string; bytes: number; rows: number }>(
    `SELECT coalesce(pg_partition_root(c.oid), c.oid)::regclass::text AS name,
            sum(pg_total_relation_size(c.oid))::bigint AS bytes, sum(greatest(c.reltuples, 0))::bigint AS rows
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = '${SCHEMA}' AND c.relkind = 'r'
     GROUP BY 1 ORDER BY bytes DESC LIMIT $1`,
    [TABLES_SHOWN],
  );
  return {
    bytes: size?.bytes ?? 0,
    tables: tables.map((table) => ({ ...table, name: table.name.replace(`${SCHEMA}.`, '') })),
  };
}

const POSTGRES_MIN_VERSION = 150_000;
const MUST_BE_ON = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;
/** Levels of synchronous_commit at which a commit is on this server's disk before it is confirmed. */
const DURABLE_COMMIT = ['on', 'local', 'remote_write', 'remote_apply'];

/** Returns the reasons why this database is not durable; empty if it is. */
export async function durabilityFaults(db: Tx): Promise<string[]> {
  const rows = await db.query<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name = ANY($1)`,
    [[...MUST_BE_ON, 'server_version_num']],
  );
  const setting = new Map(rows.map((row) => [row.name, row.setting]));
  const faults: string[] = [];
  const version = Number(setting.get('server_version_num'));
  if (!(version >= POSTGRES_MIN_VERSION))
    faults.push(`PostgreSQL 15 or newer is required, this is ${version}`);
  for (const name of MUST_BE_ON) {
    const value = setting.get(name) ?? 'unknown';
    const durable = name === 'synchronous_commit' ? DURABLE_COMMIT.includes(value) : value === 'on';
    if (!durable) faults.push(`${name} is ${value}: an acknowledged record could be lost. Set it to on`);
  }
  return faults;
}
