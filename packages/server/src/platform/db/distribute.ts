import pg from 'pg';
import type { ConnectionSource } from './connections.ts';
import { readSchemaState } from './schema-state.ts';
import { TABLES, type Table } from './tables.ts';

export type DistributeResult = {
  /** The tables that this call distributed, in order. */
  tables: string[];
  /** The number of tables that were already distributed. */
  before: number;
  /** Nodes that hold rows, besides the coordinator. */
  workers: number;
};

/** Runs one statement in the transaction of its owner. */
type RunQuery = <R extends object>(text: string, values?: unknown[]) => Promise<R[]>;

/** The number of shards, independent of the number of nodes: they can be split later, and 32 suit about eight to sixteen CPUs. */
const SHARDS = 32;
const CITUS_MIN = [12, 1] as const;

/**
 * Distributes the tables over the nodes of a Citus cluster as listed in `tables.ts`, and skips those already distributed. Existing rows are
 * moved, and are write-locked during the move. It succeeds or fails as a whole.
 */
export async function distribute(
  admin: ConnectionSource,
  { shards = SHARDS }: { shards?: number } = {},
): Promise<DistributeResult> {
  const client = new pg.Client({ ...admin(), application_name: 'beckon distribute' });
  const query: RunQuery = async (text, values) => (await client.query(text, values)).rows as never;
  await client.connect();
  try {
    await requireCitus(query);
    await requireSchema(query);
    const workers = await countWorkers(query);
    // Existing rows are moved, regardless of their number.
    await client.query(`BEGIN; SET LOCAL statement_timeout = '1d'`);
    try {
      const before = (await distributedTables(query)).size;
      const tables = await distributeNew(query, shards);
      await client.query('COMMIT');
      await dropLocalCopies(query);
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
export async function distributeAdded(query: RunQuery): Promise<void> {
  if (await isDistributed(query)) await distributeNew(query, SHARDS);
}

/** Returns whether rows of two projects may be on two nodes. */
export async function isDistributed(query: RunQuery): Promise<boolean> {
  const [row] = await query<{ catalogue: string | null }>(
    `SELECT to_regclass('pg_dist_partition')::text AS catalogue`,
  );
  return row?.catalogue ? (await distributedTables(query)).has('project') : false;
}

async function requireCitus(query: RunQuery): Promise<void> {
  const [row] = await query<{ version: string }>(
    `SELECT extversion AS version FROM pg_extension WHERE extname = 'citus'`,
  );
  if (!row)
    throw new Error(
      'This database has no Citus extension, so it cannot be distributed over other machines. The database is unchanged. ' +
        'Install Citus on every machine, name it in shared_preload_libraries, run CREATE EXTENSION citus, add the machines ' +
        'with citus_add_node, and set ADMIN_DATABASE_URL to the coordinator. A single PostgreSQL does not need this command',
    );
  const [major = 0, minor = 0] = row.version.split(/[.-]/).map(Number);
  const [least, leastMinor] = CITUS_MIN;
  if (major < least || (major === least && minor < leastMinor))
    throw new Error(
      `Citus ${CITUS_MIN.join('.')} or newer is required, this is ${row.version}. The database is unchanged. Update Citus and try again`,
    );
}

async function requireSchema(query: RunQuery): Promise<void> {
  const state = await readSchemaState(query);
  if (state.kind === 'ready') return;
  throw new Error(
    state.kind === 'refused'
      ? `${state.problem}. ${state.next}. The database is unchanged`
      : 'The database is not migrated to this release. Run beckon-server migrate, then distribute again. The database is unchanged',
  );
}

async function countWorkers(query: RunQuery): Promise<number> {
  const [row] = await query<{ workers: number }>(
    `SELECT count(*)::int AS workers FROM pg_dist_node
     WHERE noderole = 'primary' AND isactive AND shouldhaveshards AND groupid <> 0`,
  );
  return row?.workers ?? 0;
}

async function distributeNew(query: RunQuery, shards: number): Promise<string[]> {
  const [existingNames, distributedNames] = [await existingTables(query), await distributedTables(query)];
  const missing = TABLES.filter(
    ({ name, kind }) => kind !== 'local' && existingNames.has(name) && !distributedNames.has(name),
  );
  if (missing.length === 0) return [];
  // Tables that refer to each other are filled one after the other, because otherwise the second would not see the first.
  await query(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`);
  await query(`SET LOCAL citus.shard_count = ${shards}`);
  for (const table of missing) await distributeTable(query, table);
  return missing.map(({ name }) => name);
}

async function distributeTable(query: RunQuery, table: Table): Promise<void> {
  const name = `beckon.${table.name}`;
  if (table.kind !== 'tenant') {
    await query(`SELECT create_reference_table($1)`, [name]);
    return;
  }
  const beside = table.name === table.group ? 'none' : `beckon.${table.group}`;
  await query(`SELECT create_distributed_table($1, $2, colocate_with => $3)`, [name, table.column, beside]);
}

/** The coordinator keeps hidden copies of the rows until this call. Repeating it does no harm. */
async function dropLocalCopies(query: RunQuery): Promise<void> {
  for (const { name, kind } of TABLES)
    if (kind === 'tenant')
      await query(`SELECT truncate_local_data_after_distributing_table($1)`, [`beckon.${name}`]);
}

async function existingTables(query: RunQuery): Promise<Set<string>> {
  const rows = await query<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_class c
     WHERE c.relnamespace = to_regnamespace('beckon') AND c.relkind IN ('r', 'p') AND c.relname = ANY ($1)`,
    [TABLES.map(({ name }) => name)],
  );
  return new Set(rows.map(({ name }) => name));
}

async function distributedTables(query: RunQuery): Promise<Set<string>> {
  const rows = await query<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid
     WHERE c.relnamespace = to_regnamespace('beckon')`,
  );
  return new Set(rows.map(({ name }) => name));
}
