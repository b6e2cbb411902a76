import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TEST_PRODUCT } from '../testkit/product.ts';
import { silentLog } from '../testkit/silent-log.ts';
import { acquireHold } from './hold.ts';
import { type Home, openHome } from './home.ts';
import { startPostmaster } from './start-postmaster.ts';
import {
  queryEmbedded,
  livingPostmaster,
  makeTestDirectory,
  type TestDirectory,
} from '../testkit/directory.ts';
import { READ_ONLY } from './upgrade/guard-upgrade.ts';

let directory: TestDirectory;
let home: Home;
let left = 0;

/** The state that a killed upgrade leaves. */
beforeEach(async () => {
  directory = await makeTestDirectory();
  await (await directory.open()).release();
  home = await openHome({
    product: TEST_PRODUCT,
    dataDir: directory.dataDir,
    log: silentLog,
    print: () => {},
  });
  const started = await startPostmaster(home, { settings: READ_ONLY });
  if (started.kind !== 'started') throw new Error(started.why);
  left = started.file.pid;
}, 60_000);
afterEach(() => directory.clear(), 60_000);

test('a PostgreSQL left read-only by a killed upgrade is restarted by all who open it concurrently', async () => {
  const all = await Promise.all([directory.open(), directory.open(), directory.open()]);
  for (const [at, embedded] of all.entries()) await queryEmbedded(embedded, `CREATE TABLE written_${at} ()`);
  expect(await livingPostmaster(home.dataDir)).not.toBe(left);
});

test('does not stop PostgreSQL during an upgrade or while others use it, and reports why', async () => {
  const lock = join(home.dataDir, 'upgrade.pid');
  writeFileSync(lock, String(process.ppid));
  await expect(directory.open()).rejects.toThrow(`Process ${process.ppid} is upgrading this database`);
  rmSync(lock);
  const other = await acquireHold(home);
  await expect(directory.open()).rejects.toMatchObject({
    code: 'cannot_start',
    message: expect.stringContaining('read-only'),
  });
  expect(await livingPostmaster(home.dataDir)).toBe(left);
  await other.close();
});
