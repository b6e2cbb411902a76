import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { testDatabase } from '../../../testkit/database.ts';
import { durabilityFaults, openDatabase } from './index.ts';

const own = await testDatabase();
const db = await openDatabase({ connection: own.connection, clock: systemClock, log: silentLog });
afterAll(async () => {
  await db.close();
  await own.drop();
});

test('a database that keeps its promises is accepted', async () => {
  expect(await durabilityFaults(db)).toEqual([]);
});

test('a database that answers a commit before it is on disk is refused, by the name of the setting', async () => {
  await db.query(`ALTER DATABASE ${new URL(own.url).pathname.slice(1)} SET synchronous_commit = off`);
  const lax = await openDatabase({ connection: own.connection, clock: systemClock, log: silentLog });
  expect(await durabilityFaults(lax)).toEqual([expect.stringContaining('synchronous_commit is off')]);
  await lax.close();
});

test('fsync and full_page_writes off are named too', async () => {
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
