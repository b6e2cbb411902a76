import type { Migration } from 'kysely/migration';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { type ConnectionSource, openPool } from './connections.ts';

export const SCHEMA = 'beckon';

/**
 * The relation between the schema of a database and this release. A `refused` one cannot be used: no migration leads from it to this
 * release.
 */
export type SchemaState =
  | { kind: 'empty' }
  | { kind: 'ready' }
  | { kind: 'older'; pending: string[] }
  | { kind: 'refused'; problem: string; next: string };

type RunQuery = <R extends object>(text: string) => Promise<R[]>;
type Migrations = Record<string, Migration>;

export async function schemaState(connection: ConnectionSource): Promise<SchemaState> {
  const pool = openPool(connection, { max: 1, name: 'migrate' });
  try {
    return await readSchemaState(async (text) => (await pool.query(text)).rows as never);
  } finally {
    await pool.end();
  }
}

export async function readSchemaState(
  query: RunQuery,
  migrations: Migrations = MIGRATIONS,
): Promise<SchemaState> {
  return classifySchema(await appliedMigrations(query), Object.keys(migrations));
}

/** Returns the names of the applied migrations in order; empty if the database has no schema of ours. */
export async function appliedMigrations(query: RunQuery): Promise<string[]> {
  const [row] = await query<{ table: string | null }>(
    `SELECT to_regclass('${SCHEMA}.kysely_migration')::text AS table`,
  );
  if (!row?.table) return [];
  const rows = await query<{ name: string }>(`SELECT name FROM ${SCHEMA}.kysely_migration ORDER BY name`);
  return rows.map(({ name }) => name);
}

/** A database without applied migrations may currently be set up by another process; `migrate` waits for it. */
function classifySchema(applied: string[], knownNames: string[]): SchemaState {
  if (applied.length === 0) return { kind: 'empty' };
  const unknown = applied.filter((name) => !knownNames.includes(name));
  const last = unknown.at(-1);
  if (last !== undefined)
    return applied.includes(knownNames[0] ?? '') ? ofNewerRelease(last) : ofNoRelease(last);
  const pending = knownNames.filter((name) => !applied.includes(name));
  return pending.length === 0 ? { kind: 'ready' } : { kind: 'older', pending };
}

function ofNewerRelease(last: string): SchemaState {
  return {
    kind: 'refused',
    problem: `The database was migrated by a newer release of Beckon (to ${last})`,
    next: 'Install that release or a later one',
  };
}

/** Every release begins with the same baseline. */
function ofNoRelease(last: string): SchemaState {
  return {
    kind: 'refused',
    problem: `The database was created by a development version of Beckon (migrated to ${last}) and cannot be upgraded`,
    next: 'Create an empty database and set DATABASE_URL to it; for the embedded database, set DATA_DIR to a new directory',
  };
}
