import pg from 'pg';
import type { ConnectionSource } from './connection.ts';
import { readSchemaState } from './schema-state.ts';
import { TABLES, type Table } from './tables.ts';

export type Distributed = {
  /** Those that this made tables of all machines, in the order in which it did. */
  tables: string[];
  /** How many were so already. */
  before: number;
  /** Machines that hold rows, beside the one that was asked. */
  workers: number;
};

/** One statement, inside whatever transaction its holder conducts. */
type Ask = <R extends object>(text: string, values?: unknown[]) => Promise<R[]>;

/** So many parts, whatever the machines: they can be split later, and 32 are right for some eight to sixteen processors. */
const SHARDS = 32;
const CITUS_MIN = [12, 1] as const;

/**
 * Spreads the tables over the machines of a Citus cluster, as `tables.ts` says; those that are so already are left alone. Rows that are
 * there go along, and are write-locked meanwhile. All of it or nothing.
 */
export async function distribute(admin: ConnectionSource): Promise<Distributed> {
  const client = new pg.Client({ ...admin(), application_name: 'beckon distribute' });
  const ask: Ask = async (text, values) => (await client.query(text, values)).rows as never;
  await client.connect();
  try {
    await requireCitus(ask);
    await requireSchema(ask);
    const workers = await countWorkers(ask);
    // Rows go along, however many they are.
    await client.query(`BEGIN; SET LOCAL statement_timeout = '1d'`);
    try {
      const before = (await distributedTables(ask)).size;
      const tables = await distributeNew(ask);
      await client.query('COMMIT');
      await dropLocalCopies(ask);
      return { tables, before, workers };
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  } finally {
    await client.end();
  }
}

/** What a migration added, in its transaction; nothing where this database is not spread over several machines. */
export async function distributeAdded(ask: Ask): Promise<void> {
  if (await isDistributed(ask)) await distributeNew(ask);
}

/** Whether rows of two projects may lie on two machines. */
export async function isDistributed(ask: Ask): Promise<boolean> {
  const [found] = await ask<{ catalogue: string | null }>(
    `SELECT to_regclass('pg_dist_partition')::text AS catalogue`,
  );
  return found?.catalogue ? (await distributedTables(ask)).has('project') : false;
}

async function requireCitus(ask: Ask): Promise<void> {
  const [found] = await ask<{ version: string }>(
    `SELECT extversion AS version FROM pg_extension WHERE extname = 'citus'`,
  );
  if (!found)
    throw new Error(
      'This database has no Citus extension, so it cannot be distributed over other machines. The database is unchanged. ' +
        'Install Citus on every machine, name it in shared_preload_libraries, run CREATE EXTENSION citus, add the machines ' +
        'with citus_add_node, and set ADMIN_DATABASE_URL to the coordinator. A single PostgreSQL does not need this command',
    );
  const [major = 0, minor = 0] = found.version.split(/[.-]/).map(Number);
  const [least, leastMinor] = CITUS_MIN;
  if (major < least || (major === least && minor < leastMinor))
    throw new Error(
      `Citus ${CITUS_MIN.join('.')} or newer is required, this is ${found.version}. The database is unchanged. Update Citus and try again`,
    );
}

async function requireSchema(ask: Ask): Promise<void> {
  const state = await readSchemaState(ask);
  if (state.kind === 'ready') return;
  throw new Error(
    state.kind === 'refused'
      ? `${state.problem}. ${state.next}. The database is unchanged`
      : 'The database is not migrated to this release. Run beckon-server migrate, then distribute again. The database is unchanged',
  );
}

async function countWorkers(ask: Ask): Promise<number> {
  const [row] = await ask<{ workers: number }>(
    `SELECT count(*)::int AS workers FROM pg_dist_node
     WHERE noderole = 'primary' AND isactive AND shouldhaveshards AND groupid <> 0`,
  );
  return row?.workers ?? 0;
}

async function distributeNew(ask: Ask): Promise<string[]> {
  const [there, done] = [await existing(ask), await distributedTables(ask)];
  const due = TABLES.filter(({ name, kind }) => kind !== 'local' && there.has(name) && !done.has(name));
  if (due.length === 0) return [];
  // Tables that refer to each other are filled one after the other, or the second would not see the first.
  await ask(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`);
  await ask(`SET LOCAL citus.shard_count = ${SHARDS}`);
  for (const table of due) await distributeOne(ask, table);
  return due.map(({ name }) => name);
}

async function distributeOne(ask: Ask, table: Table): Promise<void> {
  const name = `beckon.${table.name}`;
  if (table.kind !== 'tenant') {
    await ask(`SELECT create_reference_table($1)`, [name]);
    return;
  }
  const beside = table.name === table.group ? 'none' : `beckon.${table.group}`;
  await ask(`SELECT create_distributed_table($1, $2, colocate_with => $3)`, [name, table.column, beside]);
}

/** The machine that was asked keeps what it had, out of sight, until it is told not to. Once more does no harm. */
async function dropLocalCopies(ask: Ask): Promise<void> {
  for (const { name, kind } of TABLES)
    if (kind === 'tenant')
      await ask(`SELECT truncate_local_data_after_distributing_table($1)`, [`beckon.${name}`]);
}

async function existing(ask: Ask): Promise<Set<string>> {
  const rows = await ask<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_class c
     WHERE c.relnamespace = to_regnamespace('beckon') AND c.relkind IN ('r', 'p') AND c.relname = ANY ($1)`,
    [TABLES.map(({ name }) => name)],
  );
  return new Set(rows.map(({ name }) => name));
}

async function distributedTables(ask: Ask): Promise<Set<string>> {
  const rows = await ask<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid
     WHERE c.relnamespace = to_regnamespace('beckon')`,
  );
  return new Set(rows.map(({ name }) => name));
}
