import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { TEST_PRODUCT } from './product.ts';
import { silentLog } from './silent-log.ts';
import { type Embedded, openEmbedded } from '../src/embedded.ts';
import { type RestoreResult, restoreBackup, takeBackup } from '../src/index.ts';
import { queryEmbedded, soon } from './directory.ts';

type RestoreTarget = { from: string; until?: number; timeline?: number };

/** Real databases, identified by the values written into them. Each test has a directory of its own. */
export type Restores = {
  folder: () => string;
  backupDir: () => string;
  /** The lines printed to the operator during the restore. */
  printed: () => string[];
  live: (name: string) => Promise<Embedded>;
  backUp: (name: string) => Promise<string>;
  restore: (name: string, target: RestoreTarget) => Promise<RestoreResult>;
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
    for (const embedded of opened.splice(0)) await embedded.release();
  }, 60_000);
  afterAll(() => rm(base, { recursive: true, force: true }));

  /** A checkout below a closed directory also prints a line about that, which is ignored. */
  const print = (line: string): void => void (line.startsWith('The parent folders') || printed.push(line));
  const voice = { product: TEST_PRODUCT, log: silentLog, print };
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
      const backup = await takeBackup({
        ...voice,
        ...more,
        dataDir,
        to: backupDir(),
        passphrase: PASSPHRASE,
      });
      return backup.path;
    },
    restore: (name, { from, until, timeline }) =>
      restoreBackup({
        ...voice,
        dataDir: join(folder, name),
        from,
        until: until ?? null,
        timeline: timeline ?? null,
        passphrase: () => Promise.resolve(PASSPHRASE),
        secretKeyFile: 'secret.key',
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
  await queryEmbedded(embedded, `CREATE TABLE IF NOT EXISTS said (what text)`);
  await queryEmbedded(embedded, `INSERT INTO said VALUES ('${what}')`);
  const [row] = await queryEmbedded<{ at: Date }>(embedded, `SELECT clock_timestamp() AS at`);
  return (row?.at.getTime() ?? 0) + 1;
}

async function read(embedded: Embedded): Promise<string> {
  const [row] = await queryEmbedded<{ all: string }>(
    embedded,
    `SELECT string_agg(what, '' ORDER BY what) AS all FROM said`,
  );
  return row?.all ?? '';
}

async function letArchive(embedded: Embedded): Promise<void> {
  const [log] = await queryEmbedded<{ file: string }>(
    embedded,
    `SELECT pg_walfile_name(pg_switch_wal()) AS file`,
  );
  await soon(async () => {
    const [row] = await queryEmbedded<{ is: boolean }>(
      embedded,
      `SELECT coalesce(last_archived_wal >= '${log?.file}', false) AS is FROM pg_stat_archiver`,
    );
    return row?.is ?? false;
  });
}
