import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../testing/factories/database.ts';
import { makeOldCluster, OLD_MAJOR, runIn } from '../../../postgres/testkit/old-cluster.ts';
import { makeTestDirectory, queryEmbedded, type TestDirectory } from '../../../postgres/testkit/directory.ts';
import { migrate } from '../platform/db/migrate.ts';
import { openBackups } from './backups.ts';
import { loadConfig } from './config.ts';
import { upgradeSchema } from './upgrade-schema.ts';

describe('upgradeSchema', () => {
  test.each([
    ['a development version', `UPDATE beckon.kysely_migration SET name = '0031-erased-addresses'`],
    [
      'a newer release',
      `INSERT INTO beckon.kysely_migration (name, timestamp) VALUES ('0002-future', '2099')`,
    ],
  ])('refuses a database of %s', async (origin, setUp) => {
    const testDb = await testDatabase();
    const client = new pg.Client(testDb.url);
    onTestFinished(async () => {
      await client.end();
      await testDb.drop();
    });
    await client.connect();
    await client.query(setUp);
    const last = upgradeSchema.lastMigration(async (text) => (await client.query(text)).rows as never);
    await expect(last).rejects.toMatchObject({
      code: 'cannot_upgrade',
      message: expect.stringContaining(origin) as string,
    });
  });
});

describe('beckon-server upgrade-database', () => {
  const PEOPLE = 5_000;
  const FILL = `
    SET session_replication_role = replica;
    SELECT setval('beckon.project_id_seq', 41);
    INSERT INTO beckon.project (project_id, name, livemode, created_at) VALUES (nextval('beckon.project_id_seq'), 'Ácme ☃', true, now());
    CREATE TABLE beckon.event_y2001m02 PARTITION OF beckon.event FOR VALUES FROM ('2001-02-01') TO ('2001-03-01');
    INSERT INTO beckon.email_mime (project_id, draft_id, mail_from, rcpt_to, mime, frozen_at)
      SELECT 42, gen_random_uuid(), E'a\\tb', E'c\\nd\\\\', decode(repeat('00ff5c0a', 500000), 'hex'), now() FROM generate_series(1, 3);
    INSERT INTO beckon.person_email (project_id, external_user_id, email, email_lower)
      SELECT 42, 'u' || n, 'U' || n || '@x.org', 'u' || n || '@x.org' FROM generate_series(1, ${PEOPLE}) n;
  `;
  let directory: TestDirectory;

  beforeAll(async () => {
    directory = await makeTestDirectory();
    await makeOldCluster(directory.dataDir, async (connection) => {
      await migrate(() => connection);
      await runIn(connection, FILL);
    });
  }, 120_000);
  afterAll(() => directory.clear());

  test('copies every row, sequence and monthly partition into the PostgreSQL of this release', async () => {
    const config = loadConfig({ DATA_DIR: directory.dataDir }, () => '');
    const upgraded = await openBackups(config, { print: () => {}, version: '0.0.0' }).upgrade();
    expect(upgraded.from).toBe(OLD_MAJOR);
    const rows = new Map(upgraded.tables.map(({ table, rows: count }) => [table, count]));
    expect(rows.get('beckon.person_email')).toBe(PEOPLE);
    expect(rows.get('beckon.email_mime')).toBe(3);
    const embedded = await directory.open();
    const [found] = await queryEmbedded<Record<string, unknown>>(
      embedded,
      `SELECT name, nextval('beckon.project_id_seq')::int AS next,
         (SELECT octet_length(mime) FROM beckon.email_mime LIMIT 1) AS mime,
         (SELECT rcpt_to FROM beckon.email_mime LIMIT 1) AS rcpt,
         (SELECT count(*)::int FROM pg_inherits WHERE inhrelid = to_regclass('beckon.event_y2001m02')) AS months
       FROM beckon.project`,
    );
    expect(found).toEqual({ name: 'Ácme ☃', next: 43, mime: 2_000_000, rcpt: 'c\nd\\', months: 1 });
  }, 120_000);
});
