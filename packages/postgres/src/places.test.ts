import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cp, lstat, mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parseAccounts, permits, stepsTo } from './account.ts';
import { locateBinaries, mendLinks, readyBinaries } from './binaries.ts';
import { createFacts, readFacts } from './facts.ts';
import { isInitialized } from './home.ts';
import { fallbackFolderFor } from './product.ts';
import { renderConf, tunables } from './settings.ts';
import { DRAFT_MAX_AGE_MS, INITDB_PID, sweepDrafts } from './sweep-partials.ts';
import { isResponding, clusterOf, makeTestDirectory, type TestDirectory } from '../testkit/directory.ts';
import { TEST_PRODUCT } from '../testkit/product.ts';

const clearings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clear of clearings.splice(0).toReversed()) await clear();
}, 60_000);

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'beckon-places-'));
  clearings.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function directory(dataDir?: string): Promise<TestDirectory> {
  const made = await makeTestDirectory(dataDir);
  clearings.push(() => made.clear());
  return made;
}

const HELPER = { name: 'postgres', uid: 101, gid: 104 };

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  test('PostgreSQL runs as its own user, who owns the cluster', async () => {
    const at = await directory();
    const embedded = await at.open();
    const { uid } = statSync(clusterOf(at.dataDir));
    expect(uid).not.toBe(0);
    expect(statSync(join('/proc', String(await pidOf(at)))).uid).toBe(uid);
    expect(await isResponding(embedded)).toBe(true);
    // If this checkout is below an inaccessible folder, the programs are copied, which is printed; the data stays.
    expect(at.printed.join()).not.toContain('the database');
  });

  test('makes only DATA_DIR itself accessible, and changes no folder above it', async () => {
    const parent = await folder();
    chmodSync(parent, 0o755);
    const at = await directory(join(parent, 'data'));
    await at.open();
    expect(statSync(at.dataDir).mode & 0o777).toBe(0o701);
    expect(statSync(parent).mode & 0o777).toBe(0o755);
    expect(clusterOf(at.dataDir)).toBe(join(at.dataDir, 'postgres'));
  });

  test('places the database in the system folder below inaccessible folders, prints it, and finds it again', async () => {
    const parent = await folder();
    const dataDir = join(parent, 'data');
    const at = await directory(dataDir);
    const embedded = await at.open();
    expect(statSync(parent).mode & 0o777).toBe(0o700);
    expect(clusterOf(dataDir)).toBe(join(fallbackFolderFor(dataDir, TEST_PRODUCT), 'postgres'));
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    expect(at.printed).toEqual([expect.stringMatching(/Moved the database.* to /)]);
    expect(at.printed[0]).toContain(fallbackFolderFor(dataDir, TEST_PRODUCT));
    expect(await isResponding(embedded)).toBe(true);
    await embedded.release();
    chmodSync(parent, 0o755);
    const again = await at.open();
    expect(await isResponding(again)).toBe(true);
    expect(clusterOf(dataDir)).toBe(join(fallbackFolderFor(dataDir, TEST_PRODUCT), 'postgres'));
    expect(at.printed).toHaveLength(1);
  });

  test('copies programs below inaccessible folders once, with their links, for all users', async () => {
    const parent = await folder();
    const fallbackFolder = join(await folder(), 'elsewhere');
    const native = await copyPackage(join(parent, 'package'));
    const first = await readyBinaries({ runAs: HELPER, fallbackFolder }, native);
    expect(first).toEqual({ native: join(fallbackFolder, 'native-18.4.0-beta.17'), copied: true });
    expect((await readyBinaries({ runAs: HELPER, fallbackFolder }, native)).copied).toBe(false);
    expect(statSync(join(first.native, 'bin', 'postgres')).mode & 0o005).toBe(0o005);
    expect(await readlink(join(first.native, 'lib', 'libpq.so.5'))).toBe('libpq.so.5.18');
    const child = spawn(join(first.native, 'bin', 'postgres'), ['--version'], {
      cwd: '/',
      env: {},
      uid: HELPER.uid,
      gid: HELPER.gid,
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(await readdir(fallbackFolder)).toEqual(['native-18.4.0-beta.17']);
  });

  test('gives a cluster that root copied back from a backup to its user', async () => {
    const at = await directory();
    await (await at.open()).release();
    chownSync(clusterOf(at.dataDir), 0, 0);
    chownSync(join(clusterOf(at.dataDir), 'PG_VERSION'), 0, 0);
    expect(await isResponding(await at.open())).toBe(true);
  });

  test('a cluster created by a plain user stays with that user', async () => {
    const at = await directory();
    await (await at.open()).release();
    const chown = spawn('chown', ['-R', '65534:65534', at.dataDir]);
    await once(chown, 'close');
    const embedded = await at.open();
    expect(await isResponding(embedded)).toBe(true);
    expect(statSync(join('/proc', String(await pidOf(at)))).uid).toBe(65_534);
    expect(statSync(join(at.dataDir, 'postgres.json')).uid).toBe(65_534);
  });

  test("as root in a plain user's folder, creates a cluster that only that user can enter", async () => {
    const at = await directory();
    chownSync(at.dataDir, 65_534, 65_534);
    await (await at.open()).release();
    expect(statSync(clusterOf(at.dataDir)).uid).toBe(65_534);
    expect(statSync(at.dataDir).mode & 0o777).toBe(0o700);
  });

  test('reports a database of another user as inaccessible, not as missing', async () => {
    const data = await folder();
    writeFileSync(join(data, 'PG_VERSION'), '18\n');
    process.seteuid?.(65_534);
    try {
      expect(() => isInitialized(data)).toThrow(`${data} belongs to another user`);
    } finally {
      process.seteuid?.(0);
    }
  });
});

async function pidOf(at: TestDirectory): Promise<number | undefined> {
  const { livingPostmaster } = await import('../testkit/directory.ts');
  return livingPostmaster(at.dataDir);
}

/** Copies the package as npm installs it without install scripts, inaccessible to other users. */
async function copyPackage(to: string): Promise<string> {
  const native = join(to, 'native');
  await cp(dirname(locateBinaries()), to, { recursive: true, verbatimSymlinks: true });
  for (const entry of await readdir(join(native, 'lib'), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) rmSync(join(native, 'lib', entry.name));
  }
  return native;
}

test('creates the links that an install without scripts left out, and PostgreSQL runs with them', async () => {
  const native = await copyPackage(join(await folder(), 'package'));
  const link = join(native, 'lib', 'libicuuc.so.60');
  await expect(lstat(link)).rejects.toMatchObject({ code: 'ENOENT' });
  await Promise.all([mendLinks(native), mendLinks(native)]);
  expect(await readlink(link)).toBe('libicuuc.so.60.2');
  const child = spawn(join(native, 'bin', 'postgres'), ['--version'], { env: {} });
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('removes the partial cluster of a dead process, but not one in progress', async () => {
  const base = await folder();
  const dead = spawn('true');
  await once(dead, 'close');
  const busyName = `postgres.init-${dead.pid}-00000001`;
  // It only has to run and to have the folder in its command line, like initdb.
  const initdb = spawn('sh', ['-c', 'read line', join(base, busyName)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const drafts = {
    left: `postgres.init-${dead.pid}-00000000`,
    busy: busyName,
    own: `postgres.init-${process.pid}-00000002`,
    json: `postgres.json.init-${dead.pid}-00000003`,
  };
  for (const name of [drafts.left, drafts.busy, drafts.own]) mkdirSync(join(base, name));
  writeFileSync(join(base, drafts.json), '{');
  writeFileSync(join(base, drafts.left, INITDB_PID), String(dead.pid));
  writeFileSync(join(base, drafts.busy, INITDB_PID), String(initdb.pid));
  mkdirSync(join(base, 'postgres'));
  const now = Date.now();
  expect((await sweepDrafts([base, base], now)).toSorted()).toEqual([drafts.left, drafts.json].toSorted());
  expect((await readdir(base)).toSorted()).toEqual(['postgres', drafts.busy, drafts.own].toSorted());
  initdb.kill();
  await once(initdb, 'close');
  expect((await sweepDrafts([base], now + DRAFT_MAX_AGE_MS + 60_000)).toSorted()).toEqual(
    [drafts.busy, drafts.own].toSorted(),
  );
});

test('a process killed inside initdb leaves nothing that the next start keeps', async () => {
  const at = await directory();
  const facts = createFacts(at.dataDir, { name: 'lantern', data: 'postgres', owner: undefined });
  const dead = spawn('true');
  await once(dead, 'close');
  const leftover = join(at.dataDir, `postgres.init-${dead.pid}-0a0b0c0d`);
  mkdirSync(join(leftover, 'data', 'base'), { recursive: true });
  writeFileSync(join(leftover, 'data', 'PG_VERSION'), '18\n');
  expect(await isResponding(await at.open())).toBe(true);
  expect(existsSync(leftover)).toBe(false);
  expect(readFacts(at.dataDir)?.password).toBe(facts.password);
});

test('two concurrent creators of the facts agree on one password', async () => {
  const base = await folder();
  const first = createFacts(base, { name: 'lantern', data: 'postgres', owner: undefined });
  expect(createFacts(base, { name: 'lantern', data: 'other', owner: undefined })).toEqual(first);
  expect(await readdir(base)).toEqual(['postgres.json']);
  expect(first.password).toMatch(/^[\w-]{32}$/);
});

test('parseAccounts reads /etc/passwd, including the negative ids of macOS', () => {
  expect(parseAccounts('# note\nroot:x:0:0::/root:/bin/sh\nnobody:*:-2:-2::/:/x\n\nbroken')).toEqual([
    { name: 'root', uid: 0, gid: 0 },
    { name: 'nobody', uid: 4_294_967_294, gid: 4_294_967_294 },
  ]);
});

test('findClosedFolder checks access by the mode bits that apply to the user', () => {
  expect(stepsTo('/a/b')).toEqual(['/', '/a', '/a/b']);
  expect(permits({ uid: 0, gid: 0, mode: 0o40701 }, HELPER, 1)).toBe(true);
  expect(permits({ uid: 0, gid: 0, mode: 0o40770 }, HELPER, 1)).toBe(false);
  expect(permits({ uid: 0, gid: 104, mode: 0o40710 }, HELPER, 1)).toBe(true);
  expect(permits({ uid: 101, gid: 0, mode: 0o40077 }, HELPER, 1)).toBe(false);
});

test('tunables scale with the memory of the host, within bounds', () => {
  const GB = 1024 ** 3;
  const buffers = (memoryBytes: number): string | undefined =>
    tunables({ memoryBytes, walCompression: 'off' }).shared_buffers;
  expect([0.5, 2, 4, 64].map((gb) => buffers(gb * GB))).toEqual(['128MB', '256MB', '512MB', '1024MB']);
  expect(renderConf(TEST_PRODUCT, { a: '1', b: "'x'" })).toMatch(
    /^# Written by Lantern .*\na = 1\nb = 'x'\n$/,
  );
});
