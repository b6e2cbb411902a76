import pg from 'pg';
import type { ConnectionSource } from './connections.ts';
import { readSchemaState } from './schema-state.ts';
import { TABLES, type Table } from './tables.ts';

export type Distributed = {
  /** The tables that this call distributed, in order. */
  tables: string[];
  /** The number of tables that were already distributed. */
  before: number;
  /** Nodes that hold rows, besides the coordinator. */
  workers: number;
};

/** Runs one statement in the transaction of its owner. */
type Ask = <R extends object>(text: string, values?: unknown[]) => Promise<R[]>;

/** The number of shards, independent of the number of nodes: they can be split later, and 32 suit about eight to sixteen CPUs. */
const SHARDS = 32;
const CITUS_MIN = [12, 1] as const;

/**
 * Distributes the tables over the nodes of a Citus cluster as listed in `tables.ts`, and skips those already distributed. Existing rows are
 * moved, and are write-locked during the move. It succeeds or fails as a whole.
 */
export async function distribute(admin: ConnectionSource): Promise<Distributed> {
  const client = new pg.Client({ ...admin(), application_name: 'beckon distribute' });
  const ask: Ask = async (text, values) => (await client.query(text, values)).rows as never;
  await client.connect();
  try {
    await requireCitus(ask);
    await requireSchema(ask);
    const workers = await countWorkers(ask);
    // Existing rows are moved, regardless of their number.
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

/** Distributes the tables that a migration added, in its transaction; a no-op in a database that is not distributed. */
export async function distributeAdded(ask: Ask): Promise<void> {
  if (await isDistributed(ask)) await distributeNew(ask);
}

/** Returns whether rows of two projects may be on two nodes. */
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
  // Tables that refer to each other are filled one after the other, because otherwise the second would not see the first.
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

/** The coordinator keeps hidden copies of the rows until this call. Repeating it does no harm. */
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
