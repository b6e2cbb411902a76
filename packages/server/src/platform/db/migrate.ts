import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type pg from 'pg';
import type { FailpointHook } from '../failpoints.ts';
import { type Log, silentLog } from '../log.ts';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { type ConnectionSource, openPool } from './connections.ts';
import { distributeAdded } from './distribute.ts';
import { readSchemaState, SCHEMA } from './schema-state.ts';

export type MigrateOptions = {
  failpoint?: FailpointHook | undefined;
  log?: Log;
  pause?: (ms: number) => Promise<void>;
  migrations?: Record<string, Migration>;
};

/**
 * A statement that waits for a table lock blocks every later one on that table, reads included, so it waits this long only. It
 * is more than a second, because PostgreSQL cancels its own autovacuum only after that (`deadlock_timeout`).
 */
const LOCK_WITHIN_MS = 1_500;
const AGAIN_AFTER_MS = 2_000;
/** Enough for an index on the largest table. The role's own timeout is meant for statements that users wait for. */
const STATEMENT_WITHIN = '1d';
const TRIED_FOR_MS = 5 * 60_000;

/**
 * Migrates the schema to this release. Several processes may call it at once: the migrator holds a lock. If a table that has to
 * change is in use, it rolls back and retries.
 */
export async function migrate(
  connection: ConnectionSource,
  {
    failpoint,
    log = silentLog,
    pause = (ms) => setTimeout(ms),
    migrations = MIGRATIONS,
  }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const pool = openPool(connection, { max: 2, name: 'migrate' });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const until = performance.now() + TRIED_FOR_MS;
  try {
    const migrator = new Migrator({
      db,
      provider: { getMigrations: () => Promise.resolve(withDistribution(migrations, failpoint)) },
      migrationTableSchema: SCHEMA,
    });
    for (;;) {
      const { error, results } = await migrator.migrateToLatest();
      if (!error) return { applied: (results ?? []).map((result) => result.migrationName) };
      if (!isLocked(error) || performance.now() >= until)
        throw new Error(await explain(error, pool, migrations), { cause: error });
      log.warn(
        { retry_in_ms: AGAIN_AFTER_MS, blocked_by: await listHolders(pool) },
        'database.migration_blocked',
      );
      await pause(AGAIN_AFTER_MS);
    }
  } finally {
    await db.destroy();
  }
}

/** PostgreSQL's codes for a lock that another transaction holds: `lock_not_available` and `deadlock_detected`. */
const LOCK_CODES = new Set<unknown>(['55P03', '40P01']);

function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && LOCK_CODES.has(error.code);
}

/** The transactions that have used our tables for longest. PostgreSQL hides everything but the process of other users. */
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

/** Adds timeouts to each migration and, if the database is distributed, distributes the tables it added in the same transaction. */
function withDistribution(
  migrations: Record<string, Migration>,
  failpoint?: FailpointHook,
): Record<string, Migration> {
  const all = Object.entries(migrations).map(([name, migration]): [string, Migration] => [
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
        failpoint?.('migration_applied');
      },
    },
  ]);
  return Object.fromEntries(all);
}

/** Migrates an empty database up to the migration `last`: for the copy of a database that is at `last`. */
export async function migrateUpTo(connection: ConnectionSource, last: string): Promise<void> {
  const pool = openPool(connection, { max: 2, name: 'migrate' });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const provider = { getMigrations: () => Promise.resolve(MIGRATIONS) };
    const { error } = await new Migrator({ db, provider, migrationTableSchema: SCHEMA }).migrateTo(last);
    if (error) throw new Error(await explain(error, pool, MIGRATIONS), { cause: error });
  } finally {
    await db.destroy();
  }
}

/** The migrator rejects a database with unknown migrations without changing it. The state contains the reason and the next step. */
async function explain(
  error: unknown,
  pool: pg.Pool,
  migrations: Record<string, Migration>,
): Promise<string> {
  const query = async (text: string): Promise<never> => (await pool.query(text)).rows as never;
  const state = await readSchemaState(query, migrations).catch(() => null);
  if (state?.kind === 'refused') return `${state.problem}. ${state.next}`;
  const text = error instanceof Error ? error.message : String(error);
  const why = isLocked(error) ? ' for five minutes: another transaction uses a table that has to change' : '';
  return `The database could not be migrated: ${text}${why}`;
}
