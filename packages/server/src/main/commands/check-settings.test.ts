import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '@beckon/postgres';
import { testDatabase, type TestDatabase } from '../../../testing/factories/database.ts';
import { missingPgbouncer, startPgbouncer } from '../../../testing/servers/pgbouncer.ts';
import { systemClock } from '../../platform/time/clock.ts';
import { silentLog } from '../../platform/log.ts';
import { connectionsAllowed } from '../../platform/db/connections.ts';
import { durabilityFaults } from '../../platform/db/facts.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { PRODUCT } from '../product.ts';
import { checkPooler, checkSettings } from './check-settings.ts';
import type { InstallationCheck, InspectedConfig, InspectedDatabase } from './checks.ts';

const CONFIG: InspectedConfig = {
  warnings: [],
  dataDir: '.',
  embedded: false,
  publicUrl: 'http://localhost',
  host: '127.0.0.1',
  tls: null,
  ports: [],
  servesApi: true,
  pooled: false,
  connectionsNeeded: 25,
  relay: null,
};

let testDb: TestDatabase;
beforeAll(async () => {
  testDb = await testDatabase();
});
afterAll(() => testDb.drop());

/** Inspects a database by its URL, and by another URL without the pooler. */
async function inspected<T>(
  { url, direct = url }: { url: string; direct?: string },
  work: (database: InspectedDatabase) => Promise<T>,
): Promise<T> {
  const openBy = (connectionString: string): ReturnType<typeof openDatabase> =>
    openDatabase({
      connection: () => ({ connectionString }),
      clock: systemClock,
      log: silentLog,
      poolMax: 1,
      namedStatements: false,
    });
  const [db, past] = [await openBy(url), await openBy(direct)];
  try {
    return await work({
      db,
      direct: past,
      connectionsAllowed: () => connectionsAllowed(past),
      offsetMs: () => 0,
      durabilityFaults: () => durabilityFaults(past),
      schemaState: () => Promise.resolve({ kind: 'ready' }),
      secretFault: () => Promise.resolve(null),
      close: () => Promise.resolve(),
    });
  } finally {
    await Promise.all([db.close(), past.close()]);
  }
}

const look = (url: string, change: Partial<InspectedConfig> = {}): Promise<InstallationCheck[]> =>
  inspected({ url }, (database) => checkSettings(database, { ...CONFIG, ...change }));

test('checkSettings › reports one line for good settings', async () => {
  expect(await look(testDb.url)).toMatchObject([{ check: 'postgresql settings', state: 'ok' }]);
});

test.each([
  { name: 'work_mem', value: "'1GB'", state: 'warn', says: 'work_mem is 1024 MB' },
  { name: 'default_transaction_read_only', value: 'on', state: 'fail', says: 'read_only is on' },
  {
    name: 'idle_in_transaction_session_timeout',
    value: "'10s'",
    state: 'warn',
    says: 'idle_in_transaction_session_timeout is 10000 ms',
  },
])('checkSettings › reports $name that is set for the database', async ({ name, value, state, says }) => {
  const set = await testDatabase('empty');
  try {
    const admin = new pg.Client(set.url);
    await admin.connect();
    await admin.query(`ALTER DATABASE ${new URL(set.url).pathname.slice(1)} SET ${name} = ${value}`);
    await admin.end();
    const [found, ...more] = await look(set.url);
    expect(found).toMatchObject({ state, message: expect.stringContaining(says) as string });
    expect(found?.next).not.toBeNull();
    expect(more).toEqual([]);
  } finally {
    await set.drop();
  }
});

test('checkSettings › reports settings of the whole PostgreSQL', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-settings-'));
  const embedded = await openEmbedded({ product: PRODUCT, dataDir, log: silentLog, print: () => {} });
  const { host, port, user, password, database } = embedded.connection();
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`;
  const admin = new pg.Client(url);
  await admin.connect();
  try {
    const set = {
      autovacuum: 'off',
      max_wal_size: '64MB',
      checkpoint_timeout: '30s',
    };
    for (const [name, value] of Object.entries(set))
      await admin.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await admin.query('SELECT pg_reload_conf()');
    const found = async (): Promise<Set<string | undefined>> =>
      new Set((await look(url)).map(({ message }) => message.split(' ')[0]));
    // A session uses a reloaded setting as soon as it received the signal.
    await expect
      .poll(found, { timeout: 10_000 })
      .toEqual(new Set(['autovacuum', 'checkpoint_timeout', 'max_wal_size']));
  } finally {
    await admin.end();
    await embedded.release();
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('checkSettings › fails for too few connections, and warns behind a pooler', async () => {
  expect(await look(testDb.url, { connectionsNeeded: 100_000 })).toMatchObject([{ state: 'fail' }]);
  expect(await look(testDb.url, { connectionsNeeded: 100_000, pooled: true })).toMatchObject([
    { state: 'warn' },
  ]);
  expect(await look(testDb.url, { connectionsNeeded: 100_000, embedded: true })).toMatchObject([
    { state: 'ok' },
  ]);
});

const missing = missingPgbouncer();

test.skipIf(missing !== null)(
  `checkPooler › notices a pooler in transaction mode, whatever DATABASE_POOLER is (${missing ?? 'pgbouncer'})`,
  async () => {
    const pooler = await startPgbouncer(testDb.url, { poolSize: 3 });
    try {
      const states = (url: string, pooled: boolean): Promise<string[]> =>
        inspected({ url, direct: testDb.url }, async (database) =>
          (await checkPooler(database, { ...CONFIG, pooled })).map(({ state }) => state),
        );
      expect(await states(pooler.through(testDb.url), false)).toEqual(['fail']);
      expect(await states(pooler.through(testDb.url), true)).toEqual([]);
      expect(await states(testDb.url, false)).toEqual([]);
      expect(await states(testDb.url, true)).toEqual(['warn']);
    } finally {
      await pooler.stop();
    }
  },
);
