import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { testDatabase } from '../../../testing/factories/database.ts';
import { durabilityFaults } from './facts.ts';
import { openDatabase } from './database.ts';

const testDb = await testDatabase();
const db = await openDatabase({ connection: testDb.connection, clock: systemClock, log: silentLog });
afterAll(async () => {
  await db.close();
  await testDb.drop();
});

test('accepts a database with durable settings', async () => {
  expect(await durabilityFaults(db)).toEqual([]);
});

test('rejects a database that confirms a commit before it is on disk, and names the setting', async () => {
  await db.query(`ALTER DATABASE ${new URL(testDb.url).pathname.slice(1)} SET synchronous_commit = off`);
  const lax = await openDatabase({ connection: testDb.connection, clock: systemClock, log: silentLog });
  expect(await durabilityFaults(lax)).toEqual([expect.stringContaining('synchronous_commit is off')]);
  await lax.close();
});

test('also names disabled fsync and full_page_writes', async () => {
  const faults = await durabilityFaults({
    query: async <R>() =>
      [
        { name: 'fsync', setting: 'off' },
        { name: 'full_page_writes', setting: 'off' },
        { name: 'synchronous_commit', setting: 'on' },
        { name: 'server_version_num', setting: '140000' },
      ] as R[],
    prepared: async () => [],
  });
  expect(faults).toHaveLength(3);
  expect(faults.join()).toMatch(/15 or newer.*fsync is off.*full_page_writes is off/s);
});
