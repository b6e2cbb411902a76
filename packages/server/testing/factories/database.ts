import { randomBytes } from 'node:crypto';
import { afterAll, inject } from 'vitest';
import pg from 'pg';
import type { Clock } from '../../src/platform/time/clock.ts';
import { silentLog } from '../../src/platform/log.ts';
import type { ConnectionSource } from '../../src/platform/db/connections.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { takeClusterDatabase } from './cluster.ts';
import { inAdmin } from './global-setup.ts';

export type TestDatabase = { url: string; connection: ConnectionSource; drop(): Promise<void> };

/**
 * Creates a database for this test, cloned from the migrated template (`empty`: not even migrated). On a cluster, it is taken from those of
 * the run.
 */
export async function testDatabase(kind: 'migrated' | 'empty' = 'migrated'): Promise<TestDatabase> {
  const adminUrl = inject('adminUrl');
  if (inject('isCluster')) {
    const { url, release } = await takeClusterDatabase(adminUrl, kind);
    return { url, connection: () => ({ connectionString: url }), drop: release };
  }
  const name = `beckon_${randomBytes(6).toString('hex')}`;
  await inAdmin(
    adminUrl,
    `CREATE DATABASE ${name} ${kind === 'migrated' ? `TEMPLATE ${inject('template')}` : ''}`,
  );
  const url = new URL(adminUrl);
  url.pathname = name;
  return {
    url: url.href,
    connection: () => ({ connectionString: url.href }),
    drop: () => inAdmin(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** Waits until a statement is blocked by a lock of another session. */
export async function untilSomebodyWaits(db: Pick<Database, 'query'>): Promise<void> {
  const waiting = (): Promise<unknown[]> =>
    db.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  while ((await waiting()).length === 0);
}

/** Applies the same change to a database and to its page requests. */
export function alsoForPages(db: Database, change: (db: Database) => Database): Database {
  return { ...change(db), forPages: (request) => change(db.forPages(request)) };
}

/** Opens such a database for the tests of a file and removes it after them. Everything that uses it is closed before. */
export async function openTestDatabase(clock: Clock): Promise<Database> {
  const database = await testDatabase();
  const db = await openDatabase({ connection: database.connection, clock, log: silentLog });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });
  return db;
}

/** Makes the database unavailable while `during` runs: it ends all connections and accepts no new ones. */
export async function withoutDatabase(database: TestDatabase, during: () => Promise<void>): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  const admin = new pg.Client(inject('adminUrl'));
  await admin.connect();
  try {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await throwOut(admin, name);
    await during();
  } finally {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await admin.end();
  }
}

/** Waits until all connections have ended, because a terminated backend takes a moment. */
async function throwOut(admin: pg.Client, name: string): Promise<void> {
  for (let left = 1; left > 0;) {
    const { rowCount } = await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
      [name],
    );
    left = rowCount ?? 0;
  }
}
