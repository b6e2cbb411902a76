import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { TEST_PRODUCT } from '../../testkit/product.ts';
import { silentLog } from '../../testkit/silent-log.ts';
import { archiveSettings } from './archive.ts';
import { sweepBackupDrafts } from './partials.ts';
import { findGap } from './recover.ts';
import { closeEnvelope, openEnvelope } from './envelope.ts';
import { listBackups, newestBackupOf, pruneBackups, verifyBackup } from './list-backups.ts';
import { restoreBackup } from './restore-backup.ts';
import type { Manifest } from './manifest.ts';

const PASSPHRASE = 'correct horse battery staple';
const run = promisify(execFile);
/** Encryption is slow by design, so it runs only once. */
const SECRETS = { secretKey: 'k'.repeat(32), user: 'u', password: 'p', database: 'd' };
const ENVELOPE = await closeEnvelope(JSON.stringify(SECRETS), PASSPHRASE);
const base = await mkdtemp(join(tmpdir(), 'beckon-backup-'));
let folder = '';
let count = 0;

beforeEach(async () => {
  folder = join(base, String((count += 1)));
  await mkdir(join(folder, 'wal'), { recursive: true });
});
afterAll(() => rm(base, { recursive: true, force: true }));

const PG_VERSION = { path: 'data/PG_VERSION', bytes: 3, sha256: hash('sha256', '18\n') };
const SECRETS_FILE = { path: 'secrets.encrypted', bytes: ENVELOPE.length, sha256: hash('sha256', ENVELOPE) };

/** Creates the files of a backup; PostgreSQL could not start with them. */
async function makeBackup(
  day: number,
  firstWal: string,
  { files = [PG_VERSION, SECRETS_FILE], ...more }: Partial<Manifest> = {},
): Promise<string> {
  const path = join(folder, `backup-202605${String(day).padStart(2, '0')}T020000Z-0000000${day}`);
  await mkdir(join(path, 'data'), { recursive: true });
  await writeFile(join(path, 'data', 'PG_VERSION'), '18\n');
  await writeFile(join(path, 'secrets.encrypted'), ENVELOPE);
  const manifest: Manifest = {
    format: 1,
    release: '0.1.0',
    postgres: '18.1',
    major: 18,
    systemId: '1',
    timeline: 1,
    startLsn: '0/1',
    stopLsn: '0/2',
    firstWal,
    lastWal: firstWal,
    startedAt: `2026-05-0${day}T02:00:00.000Z`,
    endedAt: `2026-05-0${day}T02:01:00.000Z`,
    bytes: 3,
    folders: [],
    files,
    ...more,
  };
  await writeFile(join(path, 'manifest.json'), JSON.stringify(manifest));
  return path;
}

const wal = (number: number): string =>
  `0000000100000000000000${number.toString(16).padStart(2, '0').toUpperCase()}`;

test('openEnvelope requires the passphrase, and bounds the CPU and memory that a file can request', async () => {
  const closed = await closeEnvelope('the key', PASSPHRASE);
  expect(closed).not.toContain('the key');
  expect(await openEnvelope(closed, PASSPHRASE)).toBe('the key');
  await expect(openEnvelope(closed, `${PASSPHRASE} `)).rejects.toMatchObject({ code: 'wrong_passphrase' });
  const envelope = JSON.parse(closed) as Record<string, unknown>;
  const encrypted = Buffer.from(String(envelope.encrypted), 'base64');
  encrypted[0] = (encrypted[0] ?? 0) ^ 1;
  const bent = JSON.stringify({ ...envelope, encrypted: encrypted.toString('base64') });
  await expect(openEnvelope(bent, PASSPHRASE)).rejects.toMatchObject({ code: 'wrong_passphrase' });
  for (const wrong of [
    { n: 2 ** 30 },
    { n: 3 },
    { n: 1 },
    { r: 1_000 },
    { p: 99 },
    { kdf: 'none' },
    { tag: 1 },
  ])
    await expect(openEnvelope(JSON.stringify({ ...envelope, ...wrong }), PASSPHRASE)).rejects.toMatchObject({
      code: 'broken',
    });
  await expect(openEnvelope(closed.padEnd(70_000), PASSPHRASE)).rejects.toMatchObject({ code: 'broken' });
});

test('verifyBackup finds a changed byte, a missing file and a path out of the backup', async () => {
  const backup = await makeBackup(1, wal(1));
  expect(await verifyBackup(backup)).toMatchObject({ files: 2, bytes: 3 });
  await appendFile(join(backup, 'data', 'PG_VERSION'), ' ');
  await expect(verifyBackup(backup)).rejects.toThrow(/PG_VERSION differs from what was written there/);
  await rm(join(backup, 'data', 'PG_VERSION'));
  await expect(verifyBackup(backup)).rejects.toThrow(/PG_VERSION is missing/);
  for (const path of ['../../etc/passwd', '/etc/passwd', 'data/../../x', '']) {
    const leading = await makeBackup(2, wal(1), {
      files: [{ path, bytes: 1, sha256: hash('sha256', '') }, SECRETS_FILE],
    });
    await expect(verifyBackup(leading), path).rejects.toMatchObject({ code: 'broken' });
  }
  await expect(verifyBackup(folder)).rejects.toMatchObject({ code: 'not_found' });
});

test('verifyBackup rejects a backup whose encrypted secret key is changed, missing or not listed', async () => {
  const backup = await makeBackup(1, wal(1));
  const encrypted = join(backup, 'secrets.encrypted');
  await writeFile(encrypted, ENVELOPE.replace('"encrypted": "', '"encrypted": "A'));
  await expect(verifyBackup(backup)).rejects.toThrow(
    /secrets\.encrypted differs from what was written there/,
  );
  await rm(encrypted);
  await expect(verifyBackup(backup)).rejects.toThrow(/secrets\.encrypted is missing/);
  const unlisted = await makeBackup(2, wal(1), { files: [PG_VERSION] });
  await expect(verifyBackup(unlisted)).rejects.toMatchObject({ code: 'broken' });
});

test('pruneBackups keeps the newest backups and all WAL since the oldest of them', async () => {
  for (const day of [1, 2, 3]) await makeBackup(day, wal(day * 4));
  await mkdir(join(folder, 'wal', '1'));
  await mkdir(join(folder, '.backup-20260504T020000Z-00000004.part-1'));
  for (let number = 1; number <= 12; number += 1)
    await writeFile(join(folder, 'wal', '1', `${wal(number)}.gz`), '');
  await writeFile(join(folder, 'wal', '1', '00000002.history.gz'), '');
  expect((await listBackups(folder)).map(({ name }) => name)).toHaveLength(3);
  const pruned = await pruneBackups(folder, 2);
  expect(pruned.removed).toEqual(['backup-20260501T020000Z-00000001']);
  expect(pruned.walFiles).toBe(7);
  const remaining = (await readdir(join(folder, 'wal', '1'))).toSorted();
  expect(remaining).toEqual(
    ['00000002.history.gz', ...[8, 9, 10, 11, 12].map((number) => `${wal(number)}.gz`)].toSorted(),
  );
  expect((await listBackups(folder)).map(({ name }) => name)).toEqual(pruned.kept);
});

test('pruneBackups handles each installation by its own backups, and removes WAL without backups if it is older than all backups', async () => {
  await makeBackup(1, wal(9), { systemId: '7' });
  await makeBackup(2, wal(4), { systemId: '8' });
  await makeBackup(3, wal(6), { systemId: '8' });
  const yesterday = new Date('2026-04-30T00:00:00Z');
  for (const system of ['7', '8', '9']) {
    await mkdir(join(folder, 'wal', system));
    for (const number of [3, 5, 8, 10]) await writeFile(join(folder, 'wal', system, `${wal(number)}.gz`), '');
  }
  await utimes(join(folder, 'wal', '9', `${wal(10)}.gz`), yesterday, yesterday);
  const numbers = async (system: string): Promise<number[]> =>
    (await readdir(join(folder, 'wal', system)))
      .map((name) => Number.parseInt(name.slice(16, 24), 16))
      .toSorted((a, b) => a - b);
  expect((await pruneBackups(folder, 3)).walFiles).toBe(5);
  expect([await numbers('7'), await numbers('8'), await numbers('9')]).toEqual([[10], [5, 8, 10], [3, 5, 8]]);
  expect(await newestBackupOf(folder, '7')).toBe(Date.parse('2026-05-01T02:01:00.000Z'));
  expect(await newestBackupOf(folder, '9')).toBeNull();
  const pruned = await pruneBackups(folder, 1);
  expect(pruned).toMatchObject({ removed: ['backup-20260502T020000Z-00000002'], walFiles: 1 });
  expect(pruned.kept).toHaveLength(2);
  expect([await numbers('7'), await numbers('8')]).toEqual([[10], [8, 10]]);
});

test('pruneBackups keeps the WAL of a server that went back to an earlier timeline, even if an older backup has a later position', async () => {
  const onTwo = wal(8).replace(/^00000001/, '00000002');
  await makeBackup(1, onTwo, { timeline: 2 });
  await makeBackup(2, wal(6));
  const names = [5, 6, 7, 8].map((number) => `${wal(number)}.gz`).concat(`${onTwo}.gz`);
  await mkdir(join(folder, 'wal', '1'));
  for (const name of names) await writeFile(join(folder, 'wal', '1', name), '');
  expect((await pruneBackups(folder, 2)).walFiles).toBe(1);
  expect((await readdir(join(folder, 'wal', '1'))).toSorted()).toEqual(names.slice(1).toSorted());
});

test('sweepBackupDrafts removes partial backups of killed processes, even with its own pid, and keeps those in progress', async () => {
  const part = (pid: number): string => `.backup-20260504T020000Z-00000004.part-${pid}`;
  for (const pid of [999_999_999, process.pid, process.ppid]) await mkdir(join(folder, part(pid)));
  // A recently written one with our own pid belongs to a process in another container.
  await sweepBackupDrafts(folder);
  expect((await readdir(folder)).toSorted()).toEqual(
    [part(process.pid), part(process.ppid), 'wal'].toSorted(),
  );
  await utimes(join(folder, part(process.pid)), 0, 0);
  await sweepBackupDrafts(folder);
  expect((await readdir(folder)).toSorted()).toEqual([part(process.ppid), 'wal']);
});

test('findGap names a missing file by its timeline, and does not treat the end of the archive as a gap', async () => {
  const walFolder = join(folder, 'wal', '1');
  await mkdir(walFolder);
  const put = (name: string, text = ''): Promise<void> =>
    writeFile(join(walFolder, `${name}.gz`), gzipSync(text));
  const onTwo = (number: number): string => wal(number).replace(/^00000001/, '00000002');
  await put('00000002.history', '1\t0/07000100\tno recovery target specified\n');
  for (const number of [4, 6, 7]) await put(wal(number));
  for (const number of [7, 8]) await put(onTwo(number));
  const gap = (endedAt: bigint, lastWal = wal(3)): Promise<string | undefined> =>
    findGap({ number: 2, last: onTwo(8) }, { archive: walFolder, manifest: { lastWal }, endedAt });
  expect(await gap(0x8000000n)).toBeUndefined();
  expect(await gap(0x9000000n)).toBeUndefined();
  expect(await gap(0x4ffff00n)).toBe(`${join(walFolder, wal(5))}.gz is missing`);
  // WAL in the backup itself is not a gap, even if it is missing in the archive.
  await rm(join(walFolder, `${onTwo(7)}.gz`));
  expect(await gap(0x5000100n, wal(5))).toBe(`${join(walFolder, onTwo(7))}.gz is missing`);
  await writeFile(join(walFolder, `${onTwo(7)}.gz`), 'half');
  expect(await gap(0x7000100n)).toBe(`${join(walFolder, onTwo(7))}.gz cannot be read`);
  // On the backup's own timeline all later files belong to it, so the history of earlier timelines is not needed.
  await writeFile(join(walFolder, '00000002.history.gz'), 'half');
  expect(await gap(0x7000100n, onTwo(6))).toBe(`${join(walFolder, onTwo(7))}.gz cannot be read`);
});

test('restoreBackup rejects a backup that cannot be restored, and changes nothing', async () => {
  const from = await makeBackup(1, wal(1));
  const dataDir = join(folder, 'data');
  const restore = (more: object = {}): Promise<unknown> =>
    restoreBackup({
      product: TEST_PRODUCT,
      dataDir,
      from,
      until: null,
      log: silentLog,
      print: () => {},
      passphrase: () => Promise.resolve(PASSPHRASE),
      secretKeyFile: 'secret.key',
      ...more,
    });
  const wrong = { passphrase: () => Promise.resolve('something else entirely') };
  await expect(restore(wrong)).rejects.toMatchObject({ code: 'wrong_passphrase' });
  const before = { until: Date.parse('2026-05-01T02:00:59Z') };
  await expect(restore(before)).rejects.toMatchObject({ code: 'until' });
  await expect(restore({ until: Date.now() + 60_000 })).rejects.toMatchObject({ code: 'until' });
  const older = await makeBackup(2, wal(1), { major: 14, postgres: '14.1' });
  await expect(restore({ from: older })).rejects.toMatchObject({ code: 'other_postgres' });
  expect((await readdir(folder)).filter((name) => name.startsWith('data'))).toEqual([]);
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'mine'), '');
  await expect(restore()).rejects.toMatchObject({ code: 'not_empty' });
  expect(await readdir(dataDir)).toEqual(['mine']);
});

/** Runs the command like PostgreSQL: in a shell, with the path and the name inserted. */
async function archive(content: string, name = wal(1)): Promise<number> {
  const path = join(folder, "o'clock 100%");
  await mkdir(path, { recursive: true });
  const source = join(folder, 'segment');
  await writeFile(source, content);
  // Parsed as in a settings file, then with the placeholders replaced.
  const setting = archiveSettings(path).archive_command ?? '';
  const command = setting.slice(1, -1).replaceAll("''", "'").replaceAll('\\\\', '\\');
  const commandLine = command.replaceAll(
    /%[pf%]/g,
    (token) => ({ '%p': source, '%f': name, '%%': '%' })[token] ?? token,
  );
  return run('/bin/sh', ['-c', commandLine], { cwd: folder }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
}

test('archives a WAL file completely and once: repeating it succeeds, and a different file with its name is rejected', async () => {
  const kept = join(folder, "o'clock 100%", `${wal(1)}.gz`);
  expect(await archive('first')).toBe(0);
  expect(gunzipSync(await readFile(kept)).toString()).toBe('first');
  expect(await archive('first')).toBe(0);
  expect(await archive('other')).not.toBe(0);
  expect(gunzipSync(await readFile(kept)).toString()).toBe('first');
  // A killed process left a partial file.
  await writeFile(join(folder, "o'clock 100%", `.${wal(2)}.part`), 'half');
  expect(await archive('second', wal(2))).toBe(0);
  expect((await readdir(join(folder, "o'clock 100%"))).toSorted()).toEqual([`${wal(1)}.gz`, `${wal(2)}.gz`]);
});
