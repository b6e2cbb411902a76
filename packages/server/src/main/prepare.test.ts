import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testing/factories/database.ts';
import { silentLog } from '../platform/log.ts';
import { schemaState } from '../platform/db/schema-state.ts';
import { checkDatabase } from './commands/check-database.ts';
import { type Config, loadConfig } from './config.ts';
import { inspect } from './inspect.ts';
import { openDataLocation, migrateForCommand, openForCommand, prepareServer } from './prepare.ts';

const SECRET_KEY = 'x'.repeat(32);
const say = (): void => {};
const configOf = (testDb: TestDatabase) => loadConfig({ DATABASE_URL: testDb.url, SECRET_KEY }, () => '');

async function withDatabase(
  kind: 'migrated' | 'empty',
  work: (testDb: TestDatabase, client: pg.Client) => Promise<void>,
): Promise<void> {
  const testDb = await testDatabase(kind);
  const client = new pg.Client(testDb.connection());
  await client.connect();
  try {
    await work(testDb, client);
    await othersGone(client);
  } finally {
    await client.end();
    await testDb.drop();
  }
}

/** A pool reports its end before its connections are closed; dropping the database would end them with an error. */
async function othersGone(client: pg.Client): Promise<void> {
  for (;;) {
    const others = await client.query(
      'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    if (others.rows.length === 0) return;
  }
}

describe('openForCommand', () => {
  test('sets up an empty database', () =>
    withDatabase('empty', async (testDb) => {
      const opened = await openForCommand(configOf(testDb), { print: say, version: '0.0.0' });
      expect(await opened.db.query('SELECT * FROM beckon.project')).toEqual([]);
      await opened.close();
      expect(await schemaState(testDb.connection)).toEqual({ kind: 'ready' });
    }));

  test('works when two commands set up the database at the same time', () =>
    withDatabase('empty', async (testDb) => {
      const opened = await Promise.all([
        openForCommand(configOf(testDb), { print: say, version: '0.0.0' }),
        openForCommand(configOf(testDb), { print: say, version: '0.0.0' }),
      ]);
      expect(opened[0].pepper).toEqual(opened[1].pepper);
      for (const installation of opened) await installation.close();
    }));

  test('waits for another process that sets up the database', () =>
    withDatabase('empty', async (testDb, client) => {
      await client.query('CREATE SCHEMA beckon');
      await client.query(
        'CREATE TABLE beckon.kysely_migration (name text PRIMARY KEY, timestamp text NOT NULL)',
      );
      const opened = await openForCommand(configOf(testDb), { print: say, version: '0.0.0' });
      expect(await opened.db.query('SELECT * FROM beckon.project')).toEqual([]);
      await opened.close();
    }));

  test('reports a database that does not answer', async () => {
    const config = loadConfig({ DATABASE_URL: 'postgres://u@127.0.0.1:1/none', SECRET_KEY }, () => '');
    await expect(openForCommand(config, { print: say, version: '0.0.0' })).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe('migrateForCommand', () => {
  test('returns the migrations that it applied, and none the second time', () =>
    withDatabase('empty', async (testDb) => {
      expect((await migrateForCommand(configOf(testDb), say)).applied).toContain('0001-baseline');
      expect(await migrateForCommand(configOf(testDb), say)).toEqual({ applied: [] });
    }));
});

describe('prepareServer', () => {
  test('sets up an empty database, from which emails may be sent, with a key for hashes of erased users', () =>
    withDatabase('empty', async (testDb, client) => {
      const config = configOf(testDb);
      const location = await openDataLocation(config, { log: silentLog, print: say });
      const { pepper } = await prepareServer(config, location, silentLog);
      expect(pepper.current).toHaveLength(32);
      expect(await schemaState(testDb.connection)).toEqual({ kind: 'ready' });
      expect((await client.query('SELECT accepted_as FROM beckon.database_timeline')).rows).toEqual([
        { accepted_as: 'set_up' },
      ]);
      expect((await client.query('SELECT only_row FROM beckon.suppression_key')).rows).toHaveLength(1);
      expect(config.warnings.join()).not.toContain('restored');
    }));

  test('refuses a database that acknowledges a commit before it is on disk', () =>
    withDatabase('migrated', async (testDb, client) => {
      await client.query(
        `ALTER DATABASE ${new URL(testDb.url).pathname.slice(1)} SET synchronous_commit = off`,
      );
      const config = configOf(testDb);
      const location = await openDataLocation(config, { log: silentLog, print: say });
      await expect(prepareServer(config, location, silentLog)).rejects.toThrow('synchronous_commit is off');
    }));
});

describe('a database of a development version', () => {
  const PROBLEM =
    'The database was created by a development version of Beckon (migrated to 0031-erased-addresses) and cannot be upgraded';
  const NEXT =
    'Create an empty database and set DATABASE_URL to it; for the embedded database, set DATA_DIR to a new directory';

  const withDevelopmentDatabase = (work: (config: Config) => Promise<void>) =>
    withDatabase('migrated', async (testDb, client) => {
      await client.query(`UPDATE beckon.kysely_migration SET name = '0031-erased-addresses'`);
      await work(configOf(testDb));
      const { rows } = await client.query('SELECT name FROM beckon.kysely_migration');
      expect(rows).toEqual([{ name: '0031-erased-addresses' }]);
    });

  test('is refused by serve', () =>
    withDevelopmentDatabase(async (config) => {
      const location = await openDataLocation(config, { log: silentLog, print: say });
      await expect(prepareServer(config, location, silentLog)).rejects.toThrow(`${PROBLEM}. ${NEXT}`);
    }));

  test('is refused by migrate', () =>
    withDevelopmentDatabase((config) =>
      expect(migrateForCommand(config, say)).rejects.toThrow(`${PROBLEM}. ${NEXT}`),
    ));

  test('is refused by every other command', () =>
    withDevelopmentDatabase((config) =>
      expect(openForCommand(config, { print: say, version: '0.0.0' })).rejects.toThrow(`${PROBLEM}. ${NEXT}`),
    ));

  test('is a failure that doctor explains', () =>
    withDevelopmentDatabase(async (config) => {
      const inspection = inspect(config, say);
      if ('faults' in inspection.config) throw new Error('the configuration is invalid');
      const checks = await checkDatabase(inspection, inspection.config);
      expect(checks).toContainEqual({ check: 'schema', state: 'fail', message: PROBLEM, next: NEXT });
    }));
});
