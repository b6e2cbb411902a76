import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { installFakeCitus } from '../../../testing/servers/fake-citus.ts';
import { testDatabase } from '../../../testing/factories/database.ts';
import type { ConnectionSource } from './connections.ts';
import { distribute, distributeAdded, isDistributed } from './distribute.ts';
import { TABLES } from './tables.ts';

type CitusCall = { what: string; table: string; mode: string; shards: string };
type RunQuery = Parameters<typeof isDistributed>[0];

type TestCluster = {
  connection: ConnectionSource;
  client: pg.Client;
  query: RunQuery;
  citusCalls: () => Promise<CitusCall[]>;
};

/** Creates a separate database with a stand-in for Citus, which only records its calls. */
async function testCluster(citus: Parameters<typeof installFakeCitus>[1] | null): Promise<TestCluster> {
  const testDb = await testDatabase();
  const url = citus === null ? testDb.url : await installFakeCitus(testDb.url, citus);
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await testDb.drop();
  });
  const query: RunQuery = async (text, values) => (await client.query(text, values)).rows as never;
  return {
    connection: () => ({ connectionString: url }),
    client,
    query,
    citusCalls: () => query<CitusCall>('SELECT what, "table", mode, shards FROM fake_citus.asked ORDER BY n'),
  };
}

const SPREAD = TABLES.filter(({ kind }) => kind !== 'local');

test('distributes every table as listed, referenced tables first, and is idempotent', async () => {
  const { connection, query, citusCalls } = await testCluster({ workers: 3 });
  expect(await isDistributed(query)).toBe(false);
  const first = await distribute(connection);
  expect(first).toEqual({ tables: SPREAD.map(({ name }) => name), before: 0, workers: 3 });
  const made = (await citusCalls()).filter(({ what }) => what !== 'truncate');
  expect(made.slice(0, 2)).toEqual([
    { what: 'project_id', table: 'beckon.project', mode: 'sequential', shards: '32' },
    { what: 'project_id', table: 'beckon.import', mode: 'sequential', shards: '32' },
  ]);
  expect(made).toContainEqual(expect.objectContaining({ what: 'last4', table: 'beckon.api_key' }));
  expect(made).toContainEqual(expect.objectContaining({ what: 'reference', table: 'beckon.installation' }));
  expect(made.filter(({ table }) => /team_(?!digest)/.test(table))).toEqual([]);
  expect(await isDistributed(query)).toBe(true);
  expect(await distribute(connection)).toEqual({ tables: [], before: SPREAD.length, workers: 3 });
  expect((await citusCalls()).filter(({ what }) => what !== 'truncate')).toHaveLength(SPREAD.length);
});

test('distributes a table added by a migration in its transaction, but only in a distributed database', async () => {
  const plain = await testCluster(null);
  await distributeAdded(plain.query);
  const { connection, client, query, citusCalls } = await testCluster({});
  await distributeAdded(query);
  expect(await citusCalls()).toEqual([]);
  await distribute(connection);
  // Restores the state before the migration that created the table.
  await client.query(
    `DELETE FROM fake_citus.pg_dist_partition WHERE logicalrelid = 'beckon.reply'::regclass`,
  );
  const before = (await citusCalls()).length;
  await client.query('BEGIN');
  await distributeAdded(query);
  await client.query('ROLLBACK');
  expect(await citusCalls()).toHaveLength(before);
  await distributeAdded(query);
  expect((await citusCalls()).slice(before)).toMatchObject([{ what: 'project_id', table: 'beckon.reply' }]);
});

test('explains the next step without Citus, with an old version, and with an older schema, and changes nothing', async () => {
  const plain = await testCluster(null);
  await expect(distribute(plain.connection)).rejects.toThrow(
    /no Citus extension.*The database is unchanged.*shared_preload_libraries.*CREATE EXTENSION citus.*citus_add_node/,
  );
  const old = await testCluster({ version: '11.3-1' });
  await expect(distribute(old.connection)).rejects.toThrow(
    /Citus 12\.1 or newer is required, this is 11\.3-1/,
  );
  expect(await old.citusCalls()).toEqual([]);
  const behind = await testCluster({});
  await behind.client.query('DELETE FROM beckon.kysely_migration');
  await expect(distribute(behind.connection)).rejects.toThrow(/Run .*migrate.*The database is unchanged/);
  await behind.client.query(
    `INSERT INTO beckon.kysely_migration (name, timestamp) VALUES ('0001-ground', '2026')`,
  );
  await expect(distribute(behind.connection)).rejects.toThrow(
    /development version.*The database is unchanged/,
  );
  expect(await behind.citusCalls()).toEqual([]);
});

test('changes nothing if Citus rejects a table', async () => {
  const { connection, client, citusCalls } = await testCluster({});
  await client.query('CREATE UNIQUE INDEX wrong ON beckon.webhook_secret (endpoint_id)');
  await expect(distribute(connection)).rejects.toThrow(/"wrong"/);
  expect(await citusCalls()).toEqual([]);
});
