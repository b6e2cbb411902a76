import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { randomBytes } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { systemClock } from '../../../base/clock.ts';
import { binaryMajor } from '../binaries.ts';
import { codeOf } from '../failure.ts';
import { readFacts, replaceFacts } from '../facts.ts';
import { type Home, type HomeOptions, openHome } from '../home.ts';
import { giveTree } from '../own-tree.ts';
import { copyFileSafely, forEach, syncFolder, writeSafely } from './copy-file.ts';
import { openEnvelope } from './envelope.ts';
import { BackupFailure } from './failure.ts';
import { type BackupFile, DATA, type Manifest, readManifest, SECRETS, WAL } from './manifest.ts';
import { recover, type Recovered } from './recover.ts';
import { dropRestoreDraft, sweepRestoreDrafts } from './restore-drafts.ts';
import type { KeptSecrets } from './take-backup.ts';

export type Restoring = HomeOptions & {
  /** The folder of one backup. */
  from: string;
  /** Milliseconds; null: to the end of all that there is. */
  until: number | null;
  /** Along which the log is followed; left out: the one on which somebody worked last. */
  timeline?: number | null;
  passphrase(): Promise<string>;
};

export type Restored = Recovered & { manifest: Manifest };

/**
 * A DATA_DIR of a backup, in a folder beside it: the files are copied and compared, PostgreSQL puts them right with the log, up to the
 * moment that is wanted, and goes on as another timeline. Only then the folder gets its name; before, nothing stands where DATA_DIR
 * will be.
 */
export async function restoreBackup(restoring: Restoring): Promise<Restored> {
  const { from, until } = restoring;
  const dataDir = resolve(restoring.dataDir);
  const manifest = await readManifest(from);
  checkUntil(manifest, until);
  await checkEmpty(dataDir);
  const kept = await openSecrets(from, await restoring.passphrase());
  await mkdir(dirname(dataDir), { recursive: true });
  await sweepRestoreDrafts(dataDir);
  const draft = `${dataDir}.restore-${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(draft, { mode: 0o700 });
  try {
    const home = await openHome({ ...restoring, dataDir: draft, backupDir: null });
    await checkMajor(home, manifest);
    keepPassword(home, kept);
    await unpack(home, from, manifest);
    const { timeline = null } = restoring;
    const print = (line: string): void => restoring.print(line);
    const archives = await findArchives(from);
    const recovered = await recover(home, { manifest, until, timeline, archives, print });
    await writeSafely(join(draft, 'secret.key'), `${kept.secretKey}\n`);
    await syncFolder(draft);
    await putInPlace(draft, dataDir);
    return { manifest, ...recovered };
  } catch (error) {
    await dropRestoreDraft(draft);
    throw error;
  }
}

function checkUntil({ endedAt }: Manifest, until: number | null): void {
  if (until === null) return;
  if (until < Date.parse(endedAt))
    throw new BackupFailure(
      'until',
      `This backup was whole at ${endedAt}, and the database cannot be put back to a moment before that: take an older one`,
    );
  if (until > systemClock.now()) throw new BackupFailure('until', 'That moment has not come yet');
}

async function checkEmpty(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  if (names.length > 0)
    throw new BackupFailure(
      'not_empty',
      `${dataDir} is not empty, and a restore replaces nothing: move it away, or name another DATA_DIR`,
    );
}

async function openSecrets(from: string, passphrase: string): Promise<KeptSecrets> {
  const text = await openEnvelope(await readFile(join(from, SECRETS), 'utf8'), passphrase);
  return JSON.parse(text) as KeptSecrets;
}

async function checkMajor(home: Home, { major, postgres }: Manifest): Promise<void> {
  const ours = await binaryMajor(home.native);
  if (ours !== major)
    throw new BackupFailure(
      'other_postgres',
      `The backup is of PostgreSQL ${postgres}, and this release brings ${ours}: restore it by a release that brings ${major}, then upgrade the database`,
    );
}

/** The roles in the files have the password that they had. */
function keepPassword({ dataDir, owner }: Home, { user, password, database }: KeptSecrets): void {
  const made = readFacts(dataDir);
  if (!made) throw new Error(`${dataDir}/postgres.json has vanished`);
  replaceFacts(dataDir, { ...made, user, password, database }, owner);
}

async function unpack(home: Home, from: string, manifest: Manifest): Promise<void> {
  await mkdir(home.data, { mode: 0o700 });
  for (const folder of manifest.folders)
    await mkdir(join(home.data, folder), { recursive: true, mode: 0o700 });
  await forEach(manifest.files, (file) => unpackFile(home, from, file));
  await writeFile(join(home.data, 'recovery.signal'), '', { mode: 0o600 });
  if (home.runAs) await giveTree(home.data, home.runAs);
}

async function unpackFile(home: Home, from: string, file: BackupFile): Promise<void> {
  const { path, bytes, sha256 } = file;
  const inData = path.startsWith(`${DATA}/`);
  const target = inData ? join(home.data, path.slice(DATA.length + 1)) : join(home.dataDir, basename(path));
  const copied = await copyFileSafely(join(from, path), target);
  if (copied.bytes !== bytes || copied.sha256 !== sha256)
    throw new BackupFailure('broken', `${join(from, path)} is not what was written there`);
  if (inData) return;
  const place = join(home.data, 'pg_wal', basename(path, '.gz'));
  const written = createWriteStream(place, { flags: 'wx', mode: 0o600 });
  await pipeline(createReadStream(target), createGunzip(), written);
  await rm(target);
}

/** The continuous log lies beside the backups, where there is one. */
async function findArchives(from: string): Promise<string[]> {
  const folder = join(dirname(resolve(from)), WAL);
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() ? [folder] : [];
}

async function putInPlace(draft: string, dataDir: string): Promise<void> {
  // An empty folder that stood there; somebody who has put something into it meanwhile is not replaced.
  await rmdir(dataDir).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  await rename(draft, dataDir);
  await syncFolder(dirname(dataDir));
}
