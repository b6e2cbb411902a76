import { createReadStream, createWriteStream } from 'node:fs';
import {
  access,
  chmod,
  chown,
  constants,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { chooseAccount, ENTER, giveTree, isRoot, permits } from '../account.ts';
import { binaryMajor } from '../binaries.ts';
import { BackupFailure, codeOf } from '../failure.ts';
import { readFacts, replaceFacts } from '../facts.ts';
import { type Home, type HomeOptions, openHome } from '../home.ts';
import { readyClusterArchive } from './archive.ts';
import { copyFileSafely, forEach, syncFolder, writeSafely } from './copy-file.ts';
import { openEnvelope } from './envelope.ts';
import { type BackupFile, DATA, type Manifest, readManifest, SECRETS, WAL } from './manifest.ts';
import { recover, type RecoveryResult } from './recover.ts';
import { dropRestoreDraft, restoreDraftOf, sweepRestoreDrafts } from './partials.ts';
import type { KeptSecrets } from './take-backup.ts';

export type RestoreOptions = HomeOptions & {
  /** The folder of one backup. */
  from: string;
  /** In milliseconds; null: to the end of the WAL. */
  until: number | null;
  /** The timeline to follow; defaults to the most recently used one. */
  timeline?: number | null;
  passphrase(): Promise<string>;
  /** The name of the file in DATA_DIR to which the secret key is restored. */
  secretKeyFile: string;
};

export type RestoreResult = RecoveryResult & { manifest: Manifest };

/**
 * Creates a DATA_DIR from a backup. It copies and verifies the files, and lets PostgreSQL replay the WAL up to the given moment and begin a
 * new timeline. All this happens in a temporary folder beside a DATA_DIR that does not exist yet. An existing empty DATA_DIR contains the
 * temporary folder, because it may be a separate file system or the only writable folder. At the end everything is renamed.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { from, until } = options;
  const dataDir = resolve(options.dataDir);
  const manifest = await readManifest(from);
  checkUntil(manifest, until);
  const isThere = (await findNames(dataDir)) !== null;
  const target = isThere ? join(dataDir, 'postgres') : dataDir;
  await sweepRestoreDrafts(target, options.product);
  await checkEmpty(dataDir);
  const kept = await openSecrets(from, await options.passphrase());
  await mkdir(dirname(target), { recursive: true });
  const draft = restoreDraftOf(target);
  await makeDraft(draft, isThere ? dataDir : null);
  try {
    const restored = await restoreInto(draft, { options, manifest, kept });
    await (isThere ? moveWithin(draft, dataDir) : moveIntoPlace(draft, dataDir));
    return restored;
  } catch (error) {
    await dropRestoreDraft(draft, options.product);
    throw error;
  }
}

/** Creates the folder with the owner of its parent, and makes it accessible to the account of PostgreSQL. */
async function makeDraft(draft: string, within: string | null): Promise<void> {
  await mkdir(draft, { mode: 0o700 });
  if (within === null || !isRoot()) return;
  const { uid, gid, mode } = await stat(within);
  await chown(draft, uid, gid);
  if (!permits({ uid, gid, mode }, await chooseAccount(uid), ENTER))
    await chmod(within, (mode & 0o7777) | 0o001);
}

type Content = { options: RestoreOptions; manifest: Manifest; kept: KeptSecrets };

async function restoreInto(draft: string, { options, manifest, kept }: Content): Promise<RestoreResult> {
  const { from, until, timeline = null } = options;
  const print = (line: string): void => options.print(line);
  const home = await openHome({ ...options, dataDir: draft, backupDir: null });
  await checkMajor(home, manifest);
  keepPassword(home, kept);
  await unpack(home, from, manifest);
  const archive = await findArchive(home, from, manifest);
  const recovered = await recover(home, { manifest, until, timeline, archive, print });
  const secret = join(draft, options.secretKeyFile);
  await writeSafely(secret, `${kept.secretKey}\n`);
  if (home.owner) await chown(secret, home.owner.uid, home.owner.gid);
  await syncFolder(draft);
  return { manifest, ...recovered };
}

function checkUntil({ endedAt }: Manifest, until: number | null): void {
  if (until === null) return;
  if (until < Date.parse(endedAt))
    throw new BackupFailure(
      'until',
      `This backup was complete at ${endedAt}, and cannot restore the database to an earlier time. Use an older backup`,
    );
  if (until > Date.now()) throw new BackupFailure('until', 'That time is in the future');
}

async function findNames(folder: string): Promise<string[] | null> {
  return readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
}

/** Created by the file system, not by a user. */
const LOST_AND_FOUND = 'lost+found';

async function checkEmpty(dataDir: string, draft?: string): Promise<void> {
  const names = (await findNames(dataDir)) ?? [];
  if (names.some((name) => name !== LOST_AND_FOUND && name !== draft))
    throw new BackupFailure(
      'not_empty',
      `${dataDir} is not empty, and a restore replaces no files. Move its content away, or use another DATA_DIR`,
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
      `The backup is from PostgreSQL ${postgres}, but this release contains ${ours}. Restore it with a release that contains ${major}, then upgrade the database`,
    );
}

/** The roles in the restored files have their old password. */
function keepPassword({ dataDir, owner }: Home, { user, password, database }: KeptSecrets): void {
  const made = readFacts(dataDir);
  if (!made) throw new Error(`${dataDir}/postgres.json is missing`);
  replaceFacts(dataDir, { ...made, user, password, database }, owner);
}

async function unpack(home: Home, from: string, manifest: Manifest): Promise<void> {
  await mkdir(home.data, { mode: 0o700 });
  for (const folder of manifest.folders)
    await mkdir(join(home.data, folder), { recursive: true, mode: 0o700 });
  const files = manifest.files.filter(({ path }) => path !== SECRETS);
  await forEach(files, (file) => unpackFile(home, from, file));
  await writeFile(join(home.data, 'recovery.signal'), '', { mode: 0o600 });
  if (home.runAs) await giveTree(home.data, home.runAs);
}

async function unpackFile(home: Home, from: string, file: BackupFile): Promise<void> {
  const { path, bytes, sha256 } = file;
  const inData = path.startsWith(`${DATA}/`);
  const target = inData ? join(home.data, path.slice(DATA.length + 1)) : join(home.dataDir, basename(path));
  const copied = await copyFileSafely(join(from, path), target);
  if (copied.bytes !== bytes || copied.sha256 !== sha256)
    throw new BackupFailure('broken', `${join(from, path)} differs from what was written there`);
  if (inData) return;
  const walPath = join(home.data, 'pg_wal', basename(path, '.gz'));
  const written = createWriteStream(walPath, { flags: 'wx', mode: 0o600 });
  await pipeline(createReadStream(target), createGunzip(), written);
  await rm(target);
}

/** Returns the archived WAL of the cluster, which is beside the backups. */
async function findArchive(home: Home, from: string, { systemId }: Manifest): Promise<string | undefined> {
  const folder = join(dirname(resolve(from)), WAL);
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) return undefined;
  try {
    const archive = await readyClusterArchive(folder, { systemId, runAs: home.runAs });
    await access(archive, constants.W_OK);
    return archive;
  } catch (error) {
    throw new BackupFailure(
      'unwritable',
      `A restore records its timeline in ${folder}, which is not writable. Copy the backup and that folder to a writable place, and restore from there`,
      error,
    );
  }
}

async function moveIntoPlace(draft: string, dataDir: string): Promise<void> {
  // Removes an empty folder created since the check. A folder with files is not replaced.
  await rmdir(dataDir).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  await rename(draft, dataDir);
  await syncFolder(dirname(dataDir));
}

/** Moves `postgres.json` first and the database last: a process that finds the one without the other does not create an empty database. */
const FIRST = 'postgres.json';

async function moveWithin(draft: string, dataDir: string): Promise<void> {
  await checkEmpty(dataDir, basename(draft));
  const names = (await readdir(draft)).toSorted((a, b) => rank(a) - rank(b));
  const moved: string[] = [];
  try {
    for (const name of names) {
      await rename(join(draft, name), join(dataDir, name));
      moved.push(name);
    }
  } catch (error) {
    for (const name of moved.toReversed()) await rename(join(dataDir, name), join(draft, name));
    throw error;
  }
  await syncFolder(dataDir);
  await rmdir(draft);
}

function rank(name: string): number {
  return name === FIRST ? 0 : name === 'postgres' ? 2 : 1;
}
