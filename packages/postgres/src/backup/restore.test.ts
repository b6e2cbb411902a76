import { existsSync, globSync, statSync, watch } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openRestores } from '../../testkit/restores.ts';
import { isRoot } from '../account.ts';
import { verifyBackup } from './list-backups.ts';

const {
  folder,
  backupDir,
  printed,
  live,
  backUp,
  restore: putBack,
  write,
  readOf,
  letArchive,
} = await openRestores();
afterEach(() => void vi.restoreAllMocks());

const LONG_MS = 30 * 60_000;
const PLAIN = 65_534;

/** Each takes half a minute or more, so they run only on request, for example in `npm run proof -- restores`. */
const IS_LONG = process.env['E2E_LONG'] === 'on';

test('a restore replays to the end of the WAL and reports progress', async () => {
  const first = await live('first');
  await write(first, 'a');
  const from = await backUp('first');
  const { manifest } = await verifyBackup(from);
  expect(manifest.files.map(({ path }) => path)).toContain('secrets.encrypted');
  await write(first, 'b');
  await letArchive(first);
  const now = performance.now.bind(performance);
  // Until PostgreSQL reaches the end of the WAL, each reading of the clock advances it by half an hour.
  let passedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    if (globSync(join(folder(), 'second.restore-*', 'postgres', 'recovery.signal')).length > 0)
      passedMs += LONG_MS;
    return now() + passedMs;
  });
  await putBack('second', { from });
  vi.restoreAllMocks();
  expect(printed().length).toBeGreaterThan(0);
  for (const line of printed())
    expect(line).toMatch(/^The log has been replayed for \d+\.\d minutes and has reached /);
  expect(await readOf('second')).toBe('ab');
}, 120_000);

test.skipIf(!IS_LONG)(
  'a restore rejects a missing or unreadable WAL file, unless --until excludes it',
  async () => {
    const first = await live('first');
    await write(first, 'a');
    const from = await backUp('first');
    const { manifest } = await verifyBackup(from);
    const moment = await write(first, 'b');
    for (const what of ['c', 'd', 'e']) {
      await write(first, what);
      await letArchive(first);
    }
    const walFolder = join(backupDir(), 'wal', manifest.systemId);
    const behind = (await readdir(walFolder)).filter((name) => name > `${manifest.lastWal}.gz`).toSorted();
    const [, file = ''] = behind;
    const kept = await readFile(join(walFolder, file));
    await writeFile(join(walFolder, file), kept.subarray(0, 5_000));
    await expect(putBack('second', { from })).rejects.toThrow(
      new RegExp(`${file} cannot be read.*--until and a time before 20`),
    );
    await rm(join(walFolder, file));
    await expect(putBack('second', { from })).rejects.toThrow(`${file} is missing`);
    expect((await readdir(folder())).filter((name) => name.startsWith('second'))).toEqual([]);
    await putBack('third', { from, until: moment });
    expect(await readOf('third')).toBe('ab');
    // With a gap directly after the backup, the only moment to suggest is the end of the backup itself.
    const [next = ''] = behind;
    const nextKept = await readFile(join(walFolder, next));
    await rm(join(walFolder, next));
    const options = { from, timeline: 1 };
    await expect(putBack('second', options)).rejects.toThrow(`with --until ${manifest.endedAt}`);
    await putBack('alone', { ...options, until: Date.parse(manifest.endedAt) });
    expect(await readOf('alone')).toBe('a');
    await writeFile(join(walFolder, next), nextKept, { mode: 0o644 });
    // Restoring the file from a copy repairs the archive.
    await writeFile(join(walFolder, file), kept, { mode: 0o644 });
    await putBack('fourth', { from, timeline: 1 });
    expect(await readOf('fourth')).toBe('abcde');
  },
  120_000,
);

test.skipIf(!IS_LONG)(
  'a restore rejects WAL with a lost history, unless --timeline selects another timeline',
  async () => {
    const first = await live('first');
    await write(first, 'a');
    const old = await backUp('first');
    await first.release();
    const { manifest } = await verifyBackup(old);
    await putBack('second', { from: old });
    const second = await live('second');
    await write(second, 'b');
    await letArchive(second);
    const young = await backUp('second');
    await write(second, 'c');
    await letArchive(second);
    await second.release();
    const history = join(backupDir(), 'wal', manifest.systemId, '00000002.history.gz');
    const kept = await readFile(history);
    for (const [content, words, timeline] of [
      [kept.subarray(0, 12), 'cannot be read', 3],
      [null, 'is missing', 4],
    ] as const) {
      await (content ? writeFile(history, content) : rm(history));
      for (const options of [{}, { timeline: 2 }])
        await expect(putBack('third', { from: old, ...options })).rejects.toMatchObject({
          code: 'broken',
          message: expect.stringMatching(new RegExp(`${history} ${words}.*--timeline`)),
        });
      // The first timeline has no history, and no number is assigned twice.
      expect(await putBack(`on ${timeline}`, { from: old, timeline: 1 })).toMatchObject({ timeline });
      expect(await readdir(join(folder(), `on ${timeline}`, 'postgres', 'pg_wal'))).not.toContain(
        '00000002.history',
      );
      expect(await readOf(`on ${timeline}`)).toBe('a');
    }
    // A backup made on the timeline contains its history.
    await putBack('fourth', { from: young });
    expect(await readOf('fourth')).toBe('abc');
  },
  120_000,
);

test('a restore into an existing empty folder happens within it, because it may be a separate disk in an inaccessible parent', async () => {
  const disk = join(folder(), 'disk');
  // If root backs up and restores the installation of a plain user, all files belong to that user.
  await mkdir(join(folder(), 'first'), { recursive: true });
  await mkdir(join(disk, 'lost+found'), { recursive: true, mode: 0o700 });
  if (isRoot()) for (const path of [disk, join(folder(), 'first')]) await chown(path, PLAIN, PLAIN);
  const first = await live('first');
  await write(first, 'a');
  const from = await backUp('first');
  const { ino } = await stat(disk);
  const around = (await readdir(folder())).toSorted();
  const seen = new Set<string>();
  const watcher = watch(folder(), (_event, name) => seen.add(String(name)));
  await mkdir(join(disk, 'mine'));
  await expect(putBack('disk', { from })).rejects.toMatchObject({ code: 'not_empty' });
  await rmdir(join(disk, 'mine'));
  // Remains of killed restores, the second one from a container in which the next process has the same pid.
  for (const maker of [999_999_999, process.pid])
    await mkdir(join(disk, `postgres.restore-${maker}-00000000`, 'postgres'), { recursive: true });
  await putBack('disk', { from });
  watcher.close();
  expect((await readdir(folder())).toSorted()).toEqual(around);
  expect([...seen].filter((name) => name.includes('restore'))).toEqual([]);
  expect((await stat(disk)).ino).toBe(ino);
  expect((await readdir(disk)).toSorted()).toEqual(
    ['lost+found', 'postgres', 'postgres.json', 'postgres.log', 'secret.key'].toSorted(),
  );
  if (isRoot())
    for (const name of ['postgres', 'postgres/PG_VERSION', 'postgres.json', 'secret.key'])
      expect((await stat(join(disk, name))).uid, name).toBe(PLAIN);
  expect(await readOf('disk')).toBe('a');
}, 120_000);

/** Temporary files of tests may be in memory already. */
const OTHER_DISK = ['/dev/shm', '/var/tmp'].find(
  (path) => existsSync(path) && statSync(path).dev !== statSync(tmpdir()).dev,
);

test.skipIf(OTHER_DISK === undefined)(
  'a restore into a folder on another disk ends on that disk',
  async () => {
    const first = await live('first');
    await write(first, 'a');
    const from = await backUp('first');
    const disk = await mkdtemp(`${OTHER_DISK}/beckon-disk-`);
    await chmod(disk, 0o755);
    try {
      await symlink(disk, join(folder(), 'elsewhere'));
      await putBack('elsewhere', { from });
      expect(await readOf('elsewhere')).toBe('a');
      expect(await readdir(disk)).toContain('postgres');
    } finally {
      await rm(disk, { recursive: true, force: true });
    }
  },
  120_000,
);
