import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  isResponding,
  queryEmbedded,
  clusterOf,
  makeTestDirectory,
  type TestDirectory,
} from '../testkit/directory.ts';
import { TEST_PRODUCT } from '../testkit/product.ts';

let at: TestDirectory;
beforeEach(async () => {
  at = await makeTestDirectory();
});
afterEach(() => at.clear(), 60_000);

const WALLS = ['--pid', '--fork', '--mount-proc', '--ipc', '--kill-child'];
const hasWalls = ((): boolean => {
  try {
    execFileSync('unshare', [...WALLS, '/usr/bin/flock', '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const PROGRAM = `
import { openEmbedded } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)};
const log = { debug() {}, info() {}, warn() {}, error() {} };
await openEmbedded({ product: ${JSON.stringify(TEST_PRODUCT)}, dataDir: process.argv.at(-1), log, print() {} }).then(() => console.log('open'), (error) => console.log(error.code));
process.exit();
`;

/** Simulates a separate container on the same volume: other process ids and other shared memory. */
test.skipIf(!hasWalls)(
  'a second container on the same volume reports the first and starts no second PostgreSQL',
  async () => {
    const first = await at.open();
    const args = [process.execPath, '--input-type=module', '-e', PROGRAM, at.dataDir];
    const second = spawn('unshare', [...WALLS, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(second, 'close');
    expect((await text(second.stdout)).trim()).toBe('another_server');
    await ended;
    expect(await isResponding(first)).toBe(true);
  },
  60_000,
);

test.skipIf(!hasWalls)(
  'keeps the postmaster.pid and the files of another container, even if its pid is unrelated here',
  async () => {
    const first = await at.open();
    await queryEmbedded(first, 'CREATE TABLE kept ()');
    const path = join(clusterOf(at.dataDir), 'postmaster.pid');
    const { uid, gid } = statSync(clusterOf(at.dataDir));
    const stranger = spawn('sleep', ['600'], { uid, gid });
    const original = readFileSync(path, 'utf8');
    const seen = original.replace(/^\d+/, String(stranger.pid));
    writeFileSync(path, seen);
    await expect(at.open()).rejects.toMatchObject({ code: 'another_server' });
    expect(readFileSync(path, 'utf8')).toBe(seen);
    writeFileSync(path, original);
    stranger.kill();
    expect(await isResponding(first)).toBe(true);
  },
  60_000,
);
