import { existsSync, globSync, watch } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, rmdir, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { type Embedded, openEmbedded, type Restored, restoreBackup, takeBackup } from '../index.ts';
import { ask, soon } from '../test-directory.ts';

/** Real databases, told apart by what is written into them. */
const PASSPHRASE = 'correct horse battery staple';
const base = await mkdtemp(join(tmpdir(), 'beckon-restored-'));
await chmod(base, 0o755);
const opened: Embedded[] = [];
let folder = '';
let count = 0;
let printed: string[] = [];

beforeEach(() => {
  folder = join(base, String((count += 1)));
  printed = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const one of opened.splice(0)) await one.release();
}, 60_000);
afterAll(() => rm(base, { recursive: true, force: true }));

/** Where this checkout lies below a closed folder, that is said too. */
const print = (line: string): void => void (line.startsWith('Folders above') || printed.push(line));
const voice = { log: silentLog, print };
const backupDir = (): string => join(folder, 'backups');

async function live(name: string): Promise<Embedded> {
  const embedded = await openEmbedded({ ...voice, dataDir: join(folder, name), backupDir: backupDir() });
  opened.push(embedded);
  return embedded;
}

async function backUp(name: string): Promise<string> {
  const dataDir = join(folder, name);
  const more = { backupDir: backupDir(), secretKey: 'k'.repeat(32), release: '0.0.0' };
  const taken = await takeBackup({ ...voice, ...more, dataDir, to: backupDir(), passphrase: PASSPHRASE });
  return taken.path;
}

type Putting = { from: string; until?: number; timeline?: number };

function putBack(name: string, { from, until, timeline }: Putting): Promise<Restored> {
  return restoreBackup({
    ...voice,
    dataDir: join(folder, name),
    from,
    until: until ?? null,
    timeline: timeline ?? null,
    passphrase: () => Promise.resolve(PASSPHRASE),
  });
}

/** The moment behind it. */
async function write(embedded: Embedded, what: string): Promise<number> {
  await ask(embedded, `CREATE TABLE IF NOT EXISTS said (what text)`);
  await ask(embedded, `INSERT INTO said VALUES ('${what}')`);
  const [row] = await ask<{ at: Date }>(embedded, `SELECT clock_timestamp() AS at`);
  return (row?.at.getTime() ?? 0) + 1;
}

async function read(embedded: Embedded): Promise<string> {
  const [row] = await ask<{ all: string }>(
    embedded,
    `SELECT string_agg(what, '' ORDER BY what) AS all FROM said`,
  );
  return row?.all ?? '';
}

async function letArchive(embedded: Embedded): Promise<void> {
  const [log] = await ask<{ file: string }>(embedded, `SELECT pg_walfile_name(pg_switch_wal()) AS file`);
  await soon(async () => {
    const [row] = await ask<{ is: boolean }>(
      embedded,
      `SELECT coalesce(last_archived_wal >= '${log?.file}', false) AS is FROM pg_stat_archiver`,
    );
    return row?.is ?? false;
  });
}

async function readOf(name: string): Promise<string> {
  const embedded = await live(name);
  const all = await read(embedded);
  await embedded.release();
  return all;
}

test('what was restored to be looked at changes nothing for the backups of the server that goes on, and gets a number that no other gets', async () => {
  const first = await live('first');
  await write(first, 'a');
  const old = await backUp('first');
  const early = await write(first, 'b');
  await write(first, 'c');
  await letArchive(first);
  const trial = await putBack('trial', { from: old, until: early });
  expect(trial.timeline).toBe(2);

  const late = await write(first, 'd');
  const young = await backUp('first');
  await write(first, 'e');
  await letArchive(first);
  const again = await putBack('again', { from: old, until: late });
  const newest = await putBack('newest', { from: young });
  expect([again.timeline, newest.timeline]).toEqual([3, 4]);
  expect(await readOf('again')).toBe('abcd');
  expect(await readOf('newest')).toBe('abcde');
  expect(printed).toEqual([]);
}, 240_000);

test('a restored server that goes on is followed from backups before and after, and the one that it left by its number', async () => {
  const first = await live('first');
  await write(first, 'a');
  const old = await backUp('first');
  const moment = await write(first, 'b');
  await write(first, 'c');
  await letArchive(first);
  await first.release();

  expect(await putBack('second', { from: old, until: moment })).toMatchObject({ timeline: 2 });
  const second = await live('second');
  await write(second, 'd');
  const young = await backUp('second');
  const later = await write(second, 'e');
  await write(second, 'f');
  await letArchive(second);
  await second.release();

  expect(await putBack('third', { from: old, until: later })).toMatchObject({ timeline: 3 });
  expect(printed).toEqual([expect.stringMatching(/timeline 1, .*timeline 2, .*Timeline 2 is followed/)]);
  expect(await putBack('fourth', { from: young })).toMatchObject({ timeline: 4 });
  expect(await putBack('fifth', { from: old, timeline: 1 })).toMatchObject({ timeline: 5 });
  expect(await readOf('third')).toBe('abde');
  expect(await readOf('fourth')).toBe('abdef');
  expect(await readOf('fifth')).toBe('abc');
  await expect(putBack('sixth', { from: young, timeline: 1 })).rejects.toMatchObject({ code: 'timeline' });
}, 240_000);

const LONG_MS = 30 * 60_000;

test('a restore replays for as long as there is log, and says how far it is', async () => {
  const first = await live('first');
  await write(first, 'a');
  const from = await backUp('first');
  await write(first, 'b');
  await letArchive(first);
  const now = performance.now.bind(performance);
  // While PostgreSQL replays, half an hour passes.
  let passedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    if (globSync(join(folder, 'second.restore-*', 'postgres', 'postmaster.pid')).length > 0)
      passedMs = LONG_MS;
    return now() + passedMs;
  });
  await putBack('second', { from });
  vi.restoreAllMocks();
  expect(printed).toEqual([expect.stringMatching(/replayed, for 30\.\d minutes: it has come to /)]);
  expect(await readOf('second')).toBe('ab');
}, 120_000);

test('into an empty folder that is there a restore is made within it: it may be a disk of its own, with others around it closed', async () => {
  const first = await live('first');
  await write(first, 'a');
  const from = await backUp('first');
  const place = join(folder, 'disk');
  await mkdir(join(place, 'lost+found'), { recursive: true, mode: 0o700 });
  const { ino } = await stat(place);
  const around = (await readdir(folder)).toSorted();
  const seen = new Set<string>();
  const watcher = watch(folder, (_event, name) => seen.add(String(name)));
  await mkdir(join(place, 'mine'));
  await expect(putBack('disk', { from })).rejects.toMatchObject({ code: 'not_empty' });
  await rmdir(join(place, 'mine'));
  // Killed in the middle of it.
  await mkdir(join(place, 'postgres.restore-999999999-00000000', 'postgres'), { recursive: true });
  await putBack('disk', { from });
  watcher.close();
  expect((await readdir(folder)).toSorted()).toEqual(around);
  expect([...seen].filter((name) => name.includes('restore'))).toEqual([]);
  expect((await stat(place)).ino).toBe(ino);
  expect((await readdir(place)).toSorted()).toEqual(
    ['lost+found', 'postgres', 'postgres.json', 'postgres.log', 'secret.key'].toSorted(),
  );
  expect(await readOf('disk')).toBe('a');
}, 120_000);

test.skipIf(!existsSync('/dev/shm'))(
  'a restore into a folder on another disk ends there',
  async () => {
    const first = await live('first');
    await write(first, 'a');
    const from = await backUp('first');
    const disk = await mkdtemp('/dev/shm/beckon-disk-');
    await chmod(disk, 0o755);
    try {
      await symlink(disk, join(folder, 'elsewhere'));
      await putBack('elsewhere', { from });
      expect(await readOf('elsewhere')).toBe('a');
      expect(await readdir(disk)).toContain('postgres');
    } finally {
      await rm(disk, { recursive: true, force: true });
    }
  },
  120_000,
);

test('two installations share one BACKUP_DIR, and log that was kept before each had a folder is still followed', async () => {
  const wal = join(backupDir(), 'wal');
  const first = await live('first');
  await write(first, 'a');
  const old = await backUp('first');
  await write(first, 'b');
  await letArchive(first);
  await first.release();
  const [system = ''] = await readdir(wal);

  const other = await live('other');
  await write(other, 'x');
  const young = await backUp('other');
  await write(other, 'y');
  await letArchive(other);
  await other.release();
  for (const name of await readdir(join(wal, system))) await rename(join(wal, system, name), join(wal, name));

  expect(await putBack('second', { from: old })).toMatchObject({ timeline: 2 });
  const second = await live('second');
  expect(await read(second)).toBe('ab');
  await write(second, 'c');
  await letArchive(second);
  await second.release();
  expect(await putBack('third', { from: old })).toMatchObject({ timeline: 3 });
  expect(await readOf('third')).toBe('abc');
  expect(await putBack('fourth', { from: young })).toMatchObject({ timeline: 2 });
  expect(await readOf('fourth')).toBe('xy');
}, 240_000);
