import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../testing/factories/database.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { type Database, openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { readSchemaState, schemaState } from './schema-state.ts';
import type { Session } from './statements.ts';

const adds = (column: string): Migration => ({
  up: (db: Kysely<unknown>) =>
    sql
      .raw(`ALTER TABLE beckon.ingest_log ADD COLUMN ${column} text`)
      .execute(db)
      .then(() => undefined),
});
/** The migrations of a release after this one. */
const LATER = { ...MIGRATIONS, '0002-note': adds('note'), '0003-origin': adds('origin') };

async function database(kind: 'migrated' | 'empty'): Promise<TestDatabase> {
  const testDb = await testDatabase(kind);
  onTestFinished(() => testDb.drop());
  return testDb;
}

async function open(testDb: TestDatabase): Promise<Database> {
  const db = await openDatabase({ connection: testDb.connection, clock: systemClock, log: silentLog });
  onTestFinished(() => db.close());
  return db;
}

async function withMigrationsNamed(...names: string[]): Promise<{ testDb: TestDatabase; db: Database }> {
  const testDb = await database('migrated');
  const db = await open(testDb);
  await db.query('DELETE FROM beckon.kysely_migration');
  for (const name of names)
    await db.query(`INSERT INTO beckon.kysely_migration (name, timestamp) VALUES ($1, '2026')`, [name]);
  return { testDb, db };
}

const OF_DEVELOPMENT =
  'The database was created by a development version of Beckon (migrated to 0031-erased-addresses) and cannot be upgraded. ' +
  'Create an empty database and set DATABASE_URL to it; for the embedded database, set DATA_DIR to a new directory';

describe('migrate', () => {
  test('applies each migration once, also when two processes start at the same time', async () => {
    const testDb = await database('empty');
    const [a, b] = await Promise.all([
      migrate(testDb.connection, { migrations: LATER }),
      migrate(testDb.connection, { migrations: LATER }),
    ]);
    expect([...a.applied, ...b.applied]).toEqual(Object.keys(LATER));
    expect(await migrate(testDb.connection, { migrations: LATER })).toEqual({ applied: [] });
  });

  test('continues after a crash between two migrations', async () => {
    const testDb = await database('empty');
    let reached = 0;
    const failpoint = (): void => {
      reached += 1;
      if (reached === 2) throw new Error('crash');
    };
    await expect(migrate(testDb.connection, { failpoint, migrations: LATER })).rejects.toThrow('crash');
    const { applied } = await migrate(testDb.connection, { migrations: LATER });
    expect(applied.at(-1)).toBe('0003-origin');
    expect(await (await open(testDb)).query('SELECT note, origin FROM beckon.ingest_log')).toEqual([]);
  });

  test('refuses a database of a newer release, and changes nothing', async () => {
    const { testDb, db } = await withMigrationsNamed('0001-baseline', '0002-future');
    await expect(migrate(testDb.connection)).rejects.toThrow(
      'The database was migrated by a newer release of Beckon (to 0002-future). Install that release or a later one',
    );
    expect(await db.query('SELECT name FROM beckon.kysely_migration ORDER BY 1')).toEqual([
      { name: '0001-baseline' },
      { name: '0002-future' },
    ]);
  });

  test('refuses a database of a development version, and changes nothing', async () => {
    const { testDb, db } = await withMigrationsNamed('0001-ground', '0031-erased-addresses');
    await expect(migrate(testDb.connection)).rejects.toThrow(OF_DEVELOPMENT);
    expect(await db.query('SELECT name FROM beckon.kysely_migration ORDER BY 1')).toEqual([
      { name: '0001-ground' },
      { name: '0031-erased-addresses' },
    ]);
  });
});

describe('migrate, while a transaction uses a table that has to change', () => {
  afterEach(() => void vi.useRealTimers());

  const READ = 'SELECT FROM beckon.ingest_log LIMIT 1';

  async function reader(db: Database): Promise<Session> {
    const session = await db.session();
    await session.script(`BEGIN; ${READ}`);
    return session;
  }

  async function commit(session: Session): Promise<void> {
    await session.script('COMMIT');
    session.release();
  }

  test('gives up after five minutes and says why', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const testDb = await database('migrated');
    const session = await reader(await open(testDb));
    let pauses = 0;
    const pause = (): Promise<void> => {
      pauses += 1;
      vi.advanceTimersByTime(3 * 60_000);
      return Promise.resolve();
    };
    await expect(migrate(testDb.connection, { pause, migrations: LATER })).rejects.toThrow(
      /for five minutes: another transaction uses a table/,
    );
    expect(pauses).toBe(2);
    await commit(session);
  });

  test('does not block readers while it waits, logs the holder of the lock, and continues after the commit', async () => {
    const testDb = await database('migrated');
    const db = await open(testDb);
    const session = await reader(db);
    const [waits, goOn] = [Promise.withResolvers<object>(), Promise.withResolvers<void>()];
    const warn = (fields: object, event: string): void => waits.resolve({ ...fields, event });
    const log = { ...silentLog, warn };
    const migrated = migrate(testDb.connection, { log, pause: () => goOn.promise, migrations: LATER });
    expect(await waits.promise).toMatchObject({
      event: 'database.migration_blocked',
      blocked_by: [{ application: 'beckon batches', tables: ['ingest_log'] }],
    });
    await db.query(READ);
    await commit(session);
    goOn.resolve();
    expect((await migrated).applied).toEqual(['0002-note', '0003-origin']);
  });
});

describe('schemaState', () => {
  test('distinguishes an empty database from a migrated one', async () => {
    expect(await schemaState((await database('empty')).connection)).toEqual({ kind: 'empty' });
    expect(await schemaState((await database('migrated')).connection)).toEqual({ kind: 'ready' });
  });

  test('treats a database without applied migrations as empty, because another process may be setting it up', async () => {
    const { testDb } = await withMigrationsNamed();
    expect(await schemaState(testDb.connection)).toEqual({ kind: 'empty' });
  });

  test('lists the migrations that are not applied', async () => {
    const testDb = await database('migrated');
    const db = await open(testDb);
    expect(await readSchemaState((text) => db.query(text), LATER)).toEqual({
      kind: 'older',
      pending: ['0002-note', '0003-origin'],
    });
  });
});
