import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Reach } from '../../base/crash-points.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { type ConnectionSource, openPool } from './connection.ts';
import { distributeAdded } from './distribute.ts';

export const SCHEMA = 'beckon';

/** Brings the schema up to this release. Several processes may call it at once: the migrator holds a lock. */
export async function migrate(connection: ConnectionSource, reach?: Reach): Promise<{ applied: string[] }> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: openPool(connection, { max: 2, name: 'migrate' }) }),
  });
  try {
    const migrator = new Migrator({
      db,
      provider: { getMigrations: () => Promise.resolve(spread(reach)) },
      migrationTableSchema: SCHEMA,
    });
    const { error, results } = await migrator.migrateToLatest();
    if (error) throw new Error(explain(error), { cause: error });
    return { applied: (results ?? []).map((result) => result.migrationName) };
  } finally {
    await db.destroy();
  }
}

/** Each as it is and, where the database lies on several machines, with what it added spread over them in the same transaction. */
function spread(reach?: Reach): Record<string, Migration> {
  const all = Object.entries(MIGRATIONS).map(([name, migration]): [string, Migration] => [
    name,
    {
      async up(db) {
        await migration.up(db);
        await distributeAdded(async (text, values = []) => {
          const { rows } = await db.executeQuery(CompiledQuery.raw(text, values));
          return rows as never;
        });
        reach?.('migration_done');
      },
    },
  ]);
  return Object.fromEntries(all);
}

/** The same, no further than this one: for a copy of a database that has come so far. */
export async function migrateUpTo(connection: ConnectionSource, last: string): Promise<void> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: openPool(connection, { max: 2, name: 'migrate' }) }),
  });
  try {
    const provider = { getMigrations: () => Promise.resolve(MIGRATIONS) };
    const { error } = await new Migrator({ db, provider, migrationTableSchema: SCHEMA }).migrateTo(last);
    if (error) throw new Error(explain(error), { cause: error });
  } finally {
    await db.destroy();
  }
}

/** Names of the migrations that the database has not seen yet; null where it holds no schema of ours. */
export async function pendingMigrations(connection: ConnectionSource): Promise<string[] | null> {
  const client = openPool(connection, { max: 1, name: 'migrate' });
  try {
    const known = await client.query<{ table: string | null }>(
      `SELECT to_regclass('${SCHEMA}.kysely_migration')::text AS table`,
    );
    if (!known.rows[0]?.table) return null;
    const done = await client.query<{ name: string }>(`SELECT name FROM ${SCHEMA}.kysely_migration`);
    const names = new Set(done.rows.map((row) => row.name));
    return Object.keys(MIGRATIONS).filter((name) => !names.has(name));
  } finally {
    await client.end();
  }
}

function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.includes('is missing')
    ? `The database was migrated by a newer release than this one (${text})`
    : `The database could not be migrated: ${text}`;
}
