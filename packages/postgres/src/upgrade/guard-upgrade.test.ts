import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TEST_PRODUCT } from '../../testkit/product.ts';
import { silentLog } from '../../testkit/silent-log.ts';
import { type Home, openHome } from '../home.ts';
import { initializeCluster } from '../initialize-cluster.ts';
import { isAlive } from '../process-command.ts';
import { startPostmaster } from '../start-postmaster.ts';
import { stopPostmaster } from '../postmaster.ts';
import { livingPostmaster, makeTestDirectory, type TestDirectory } from '../../testkit/directory.ts';
import { READ_ONLY, stopLeft } from './guard-upgrade.ts';

let directory: TestDirectory;
let home: Home;

beforeAll(async () => {
  directory = await makeTestDirectory();
  home = await openHome({
    product: TEST_PRODUCT,
    dataDir: directory.dataDir,
    log: silentLog,
    print: () => {},
  });
  await initializeCluster(home);
}, 60_000);
afterAll(() => directory.clear(), 60_000);

async function start(settings: Record<string, string>): Promise<number> {
  const started = await startPostmaster(home, { settings });
  if (started.kind !== 'started') throw new Error(started.why);
  return started.file.pid;
}

test('does not stop a PostgreSQL that a server uses, despite remains of earlier upgrades', async () => {
  writeFileSync(join(home.dataDir, 'upgrade.running'), '');
  const pid = await start({});
  await expect(stopLeft(home)).rejects.toThrow(`Process ${pid} uses ${home.data}. Stop the server first`);
  expect(await livingPostmaster(home.dataDir)).toBe(pid);
  await stopPostmaster(home, pid);
});

test('stops a PostgreSQL left running by a killed upgrade', async () => {
  await start(READ_ONLY);
  await stopLeft(home);
  expect(await livingPostmaster(home.dataDir)).toBeUndefined();
});

test('removes an empty postmaster.pid, and one with the pid of an unrelated PostgreSQL, without stopping a process', async () => {
  const { uid, gid } = statSync(home.data);
  const stranger = spawn('sleep', ['600'], { argv0: 'postgres', uid, gid });
  const pidFile = join(home.data, 'postmaster.pid');
  for (const text of ['', `${stranger.pid}\n/elsewhere\n1\n5432\n`]) {
    writeFileSync(pidFile, text);
    await stopLeft(home);
    expect(existsSync(pidFile)).toBe(false);
  }
  expect(isAlive(stranger.pid ?? 0)).toBe(true);
  stranger.kill();
  await once(stranger, 'close');
});
