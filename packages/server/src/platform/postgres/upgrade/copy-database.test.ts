import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../testkit/database.ts';
import type { EmbeddedConnection } from '../index.ts';
import { copyDatabase } from './copy-database.ts';

async function database(kind: 'migrated' | 'empty', setUp = ''): Promise<EmbeddedConnection> {
  const testDb = await testDatabase(kind);
  onTestFinished(() => testDb.drop());
  const client = new pg.Client(testDb.url);
  await client.connect();
  await client.query(setUp);
  await client.end();
  const { hostname: host, port, username: user, password, pathname } = new URL(testDb.url);
  return { host, port: Number(port), user, password, database: pathname.slice(1), ssl: false };
}

describe('copyDatabase', () => {
  test.each([
    ['a development version', `UPDATE beckon.kysely_migration SET name = '0031-erased-addresses'`],
    [
      'a newer release',
      `INSERT INTO beckon.kysely_migration (name, timestamp) VALUES ('0002-future', '2099')`,
    ],
  ])('refuses a database of %s, and creates nothing', async (origin, setUp) => {
    const [from, to] = [await database('migrated', setUp), await database('empty')];
    await expect(copyDatabase({ from, to })).rejects.toMatchObject({
      code: 'cannot_upgrade',
      message: expect.stringContaining(origin) as string,
    });
    const client = new pg.Client(to);
    await client.connect();
    expect((await client.query(`SELECT to_regnamespace('beckon') AS schema`)).rows).toEqual([
      { schema: null },
    ]);
    await client.end();
  });
});
