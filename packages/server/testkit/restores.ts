import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { silentLog } from '../src/platform/log.ts';
import {
  type Embedded,
  openEmbedded,
  type Restored,
  restoreBackup,
  takeBackup,
} from '../src/platform/postgres/index.ts';
import { ask, soon } from '../src/platform/postgres/test-directory.ts';

type Putting = { from: string; until?: number; timeline?: number };

/** Real databases, identified by the values written into them. Each test has a directory of its own. */
export type Restores = {
  folder: () => string;
  backupDir: () => string;
  /** The lines printed to the operator during the restore. */
  printed: () => string[];
  live: (name: string) => Promise<Embedded>;
  backUp: (name: string) => Promise<string>;
  putBack: (name: string, putting: Putting) => Promise<Restored>;
  /** Returns a moment after the write. */
  write: (embedded: Embedded, what: string) => Promise<number>;
  read: (embedded: Embedded) => Promise<string>;
  readOf: (name: string) => Promise<string>;
  letArchive: (embedded: Embedded) => Promise<void>;
};

const PASSPHRASE = 'correct horse battery staple';

export async function openRestores(): Promise<Restores> {
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
    for (const one of opened.splice(0)) await one.release();
  }, 60_000);
  afterAll(() => rm(base, { recursive: true, force: true }));

  /** A checkout below a closed directory also prints a line about that, which is ignored. */
  const print = (line: string): void => void (line.startsWith('The parent folders') || printed.push(line));
  const voice = { log: silentLog, print };
  const backupDir = (): string => join(folder, 'backups');

  async function live(name: string): Promise<Embedded> {
    const embedded = await openEmbedded({ ...voice, dataDir: join(folder, name), backupDir: backupDir() });
    opened.push(embedded);
    return embedded;
  }

  return {
    folder: () => folder,
    backupDir,
    printed: () => printed,
    live,
    async backUp(name) {
      const dataDir = join(folder, name);
      const key = { secretKey: 'k'.repeat(32), checkKey: () => Promise.resolve() };
      const more = { backupDir: backupDir(), ...key, release: '0.0.0' };
      const taken = await takeBackup({ ...voice, ...more, dataDir, to: backupDir(), passphrase: PASSPHRASE });
      return taken.path;
    },
    putBack: (name, { from, until, timeline }) =>
      restoreBackup({
        ...voice,
        dataDir: join(folder, name),
        from,
        until: until ?? null,
        timeline: timeline ?? null,
        passphrase: () => Promise.resolve(PASSPHRASE),
      }),
    write,
    read,
    async readOf(name) {
      const embedded = await live(name);
      const all = await read(embedded);
      await embedded.release();
      return all;
    },
    letArchive,
  };
}

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
