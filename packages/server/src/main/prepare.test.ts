import pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../testkit/database.ts';
import { silentLog } from '../base/log.ts';
import { pendingMigrations } from '../io/db/index.ts';
import { loadConfig } from './config.ts';
import { findPlace, migrateForCommand, openForCommand, prepareServer, schemaState } from './prepare.ts';

const SECRET_KEY = 'x'.repeat(32);
const say = (): void => {};
const configOf = (own: TestDatabase) => loadConfig({ DATABASE_URL: own.url, SECRET_KEY }, () => '');

async function withDatabase(
  kind: 'migrated' | 'empty',
  work: (own: TestDatabase, client: pg.Client) => Promise<void>,
): Promise<void> {
  const own = await testDatabase(kind);
  const client = new pg.Client(own.connection());
  await client.connect();
  try {
    await work(own, client);
    await othersGone(client);
  } finally {
    await client.end();
    await own.drop();
  }
}

/** A pool says that it has ended before its connections have; dropping the database would break them off aloud. */
async function othersGone(client: pg.Client): Promise<void> {
  for (;;) {
    const others = await client.query(
      'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    if (others.rows.length === 0) return;
  }
}

test('the first command sets up an empty database', () =>
  withDatabase('empty', async (own) => {
    const opened = await openForCommand(configOf(own), { print: say, version: '0.0.0' });
    expect(await opened.db.query('SELECT * FROM beckon.project')).toEqual([]);
    await opened.close();
    expect(await pendingMigrations(own.connection)).toEqual([]);
  }));

test('two first commands at once both find it set up', () =>
  withDatabase('empty', async (own) => {
    const opened = await Promise.all([
      openForCommand(configOf(own), { print: say, version: '0.0.0' }),
      openForCommand(configOf(own), { print: say, version: '0.0.0' }),
    ]);
    expect(opened[0].pepper).toEqual(opened[1].pepper);
    for (const one of opened) await one.close();
  }));

test('a command leaves the schema of a database in use alone, and sets up one that has nothing yet', () => {
  const all = ['0001-ground', '0002-more'];
  expect(schemaState(null, all)).toBe('empty');
  expect(schemaState(all, all)).toBe('empty');
  expect(schemaState(['0002-more'], all)).toBe('older');
  expect(schemaState([], all)).toBe('ready');
});

test('a command that comes while another sets up the database waits for it', () =>
  withDatabase('empty', async (own, client) => {
    await client.query('CREATE SCHEMA beckon');
    await client.query(
      'CREATE TABLE beckon.kysely_migration (name text PRIMARY KEY, timestamp text NOT NULL)',
    );
    const opened = await openForCommand(configOf(own), { print: say, version: '0.0.0' });
    expect(await opened.db.query('SELECT * FROM beckon.project')).toEqual([]);
    await opened.close();
  }));

test('the command migrate says what it applied, and nothing the second time', () =>
  withDatabase('empty', async (own) => {
    expect((await migrateForCommand(configOf(own), say)).applied).toContain('0001-ground');
    expect(await migrateForCommand(configOf(own), say)).toEqual({ applied: [] });
  }));

test('a server sets up its database itself', () =>
  withDatabase('empty', async (own) => {
    const config = configOf(own);
    const place = await findPlace(config, { log: silentLog, print: say });
    const { pepper } = await prepareServer(config, place, silentLog);
    expect(pepper.current).toHaveLength(32);
    expect(await pendingMigrations(own.connection)).toEqual([]);
  }));

test('a server refuses a database that answers a commit before it is on disk', () =>
  withDatabase('migrated', async (own, client) => {
    await client.query(`ALTER DATABASE ${new URL(own.url).pathname.slice(1)} SET synchronous_commit = off`);
    const config = configOf(own);
    const place = await findPlace(config, { log: silentLog, print: say });
    await expect(prepareServer(config, place, silentLog)).rejects.toThrow('synchronous_commit is off');
  }));

test('a database that is not there is an error with a text', async () => {
  const config = loadConfig({ DATABASE_URL: 'postgres://u@127.0.0.1:1/none', SECRET_KEY }, () => '');
  await expect(openForCommand(config, { print: say, version: '0.0.0' })).rejects.toThrow(/ECONNREFUSED/);
});
