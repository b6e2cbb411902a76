import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type pg from 'pg';
import type { Reach } from '../../base/crash-points.ts';
import { type Log, silentLog } from '../../base/log.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { type ConnectionSource, openPool } from './connection.ts';
import { distributeAdded } from './distribute.ts';

export const SCHEMA = 'beckon';

export type MigrateOptions = {
  reach?: Reach | undefined;
  log?: Log;
  pause?: (ms: number) => Promise<void>;
};

/**
 * Whoever waits for the lock of a table has everybody behind him who asks for it later, readers too. Longer than a second all the
 * same, for only then does PostgreSQL end a vacuum of its own that is in the way (`deadlock_timeout`).
 */
const LOCK_WITHIN_MS = 1_500;
const AGAIN_AFTER_MS = 2_000;
/** An index over the largest table that there may be; the role's own bound is for statements that people wait for. */
const STATEMENT_WITHIN = '1d';
const TRIED_FOR_MS = 5 * 60_000;

/**
 * Brings the schema up to this release. Several processes may call it at once: the migrator holds a lock. Where somebody works on a
 * table that has to change it lets him, and begins again.
 */
export async function migrate(
  connection: ConnectionSource,
  { reach, log = silentLog, pause = (ms) => setTimeout(ms) }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const pool = openPool(connection, { max: 2, name: 'migrate' });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const until = performance.now() + TRIED_FOR_MS;
  try {
    const migrator = new Migrator({
      db,
      provider: { getMigrations: () => Promise.resolve(spread(reach)) },
      migrationTableSchema: SCHEMA,
    });
    for (;;) {
      const { error, results } = await migrator.migrateToLatest();
      if (!error) return { applied: (results ?? []).map((result) => result.migrationName) };
      if (!isInTheWay(error) || performance.now() >= until) throw new Error(explain(error), { cause: error });
      log.warn({ again_in_ms: AGAIN_AFTER_MS, holders: await listHolders(pool) }, 'database.migration_waits');
      await pause(AGAIN_AFTER_MS);
    }
  } finally {
    await db.destroy();
  }
}

/** PostgreSQL's codes for a lock that somebody else has. */
const IN_THE_WAY = new Set<unknown>(['55P03', '40P01']);

function isInTheWay(error: unknown): boolean {
  return error instanceof Error && 'code' in error && IN_THE_WAY.has(error.code);
}

/** Who has been at our tables for longest; of what other users of the database do only the process is told. */
async function listHolders(pool: pg.Pool): Promise<object[]> {
  const { rows } = await pool.query<object>(
    `SELECT a.pid, a.application_name AS application, extract(epoch FROM now() - a.xact_start)::float8 AS seconds,
            array_agg(DISTINCT c.relname::text) AS tables
     FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.granted AND l.pid <> pg_backend_pid() AND c.relkind IN ('r', 'p')
       AND c.relnamespace = to_regnamespace('${SCHEMA}')
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     GROUP BY a.pid, a.application_name, a.xact_start ORDER BY a.xact_start LIMIT 5`,
  );
  return rows;
}

/** Each as it is and, where the database lies on several machines, with what it added spread over them in the same transaction. */
function spread(reach?: Reach): Record<string, Migration> {
  const all = Object.entries(MIGRATIONS).map(([name, migration]): [string, Migration] => [
    name,
    {
      async up(db) {
        await db.executeQuery(CompiledQuery.raw(`SET LOCAL lock_timeout = ${LOCK_WITHIN_MS}`));
        await db.executeQuery(CompiledQuery.raw(`SET LOCAL statement_timeout = '${STATEMENT_WITHIN}'`));
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
  if (text.includes('is missing'))
    return `The database was migrated by a newer release than this one (${text})`;
  const why = isInTheWay(error)
    ? ', for five minutes: somebody else works on a table that has to change'
    : '';
  return `The database could not be migrated: ${text}${why}`;
}
