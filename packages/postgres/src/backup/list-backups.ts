import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { forEach, hashFile } from './copy-file.ts';
import { BackupFailure, codeOf } from '../failure.ts';
import { BACKUP_NAME, type Manifest, readManifest, WAL } from './manifest.ts';
import { draftNameOf } from './partials.ts';
import { findSystemId, SYSTEM_ID } from './system-id.ts';

export type ListedBackup = { name: string; path: string; manifest: Omit<Manifest, 'files' | 'folders'> };

/** Lists complete backups, oldest first. */
export async function listBackups(folder: string): Promise<ListedBackup[]> {
  const listed: ListedBackup[] = [];
  for (const name of await namesIn(folder)) {
    const { files: _files, folders: _folders, ...manifest } = await readManifest(join(folder, name));
    listed.push({ name, path: join(folder, name), manifest });
  }
  return listed;
}

/** Returns when the last complete backup of the cluster in a DATA_DIR ended; null if it has none. */
export async function newestBackupAt(folder: string, dataDir: string): Promise<number | null> {
  const systemId = await findSystemId(dataDir);
  return systemId === null ? null : newestBackupOf(folder, systemId);
}

/** Backups of other clusters do not count. */
export async function newestBackupOf(folder: string, systemId: string): Promise<number | null> {
  for (const name of (await namesIn(folder)).toReversed()) {
    const manifest = await readManifest(join(folder, name));
    if (manifest.systemId === systemId) return Date.parse(manifest.endedAt);
  }
  return null;
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return names.filter((entry) => BACKUP_NAME.test(entry)).toSorted();
}

export type VerifyResult = { files: number; bytes: number; manifest: Manifest };

/** Verifies every byte. */
export async function verifyBackup(backup: string): Promise<VerifyResult> {
  const manifest = await readManifest(backup);
  await forEach(manifest.files, async (file) => {
    const path = join(backup, file.path);
    const found = await hashFile(path).catch(unlessMissing(path));
    if (found.bytes !== file.bytes || found.sha256 !== file.sha256)
      throw new BackupFailure('broken', `${path} differs from what was written there`);
  });
  return { files: manifest.files.length, bytes: manifest.bytes, manifest };
}

function unlessMissing(path: string): (error: unknown) => never {
  return (error) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new BackupFailure('broken', `${path} is missing`, error);
  };
}

export type PruneResult = { removed: string[]; kept: string[]; walFiles: number };

/** Keeps the newest backups of each cluster, and the archived WAL that they need. */
export async function pruneBackups(folder: string, keep: number): Promise<PruneResult> {
  const listed = await listBackups(folder);
  const ofSystem = Map.groupBy(listed, ({ manifest }) => manifest.systemId);
  const keptBackups = new Set([...ofSystem.values()].flatMap((backups) => backups.slice(-keep)));
  const removable = listed.filter((backup) => !keptBackups.has(backup));
  for (const { name, path } of removable) {
    // Renamed first, so that a partly deleted backup never looks like a backup.
    const draft = join(folder, draftNameOf(name));
    await rename(path, draft);
    await rm(draft, { recursive: true, force: true });
  }
  const kept = listed.filter((backup) => keptBackups.has(backup));
  return {
    removed: removable.map(({ name }) => name),
    kept: kept.map(({ name }) => name),
    walFiles: await pruneLog(join(folder, WAL), kept),
  };
}

const SEGMENT = /^([0-9A-F]{24})(\.[0-9A-F]{8}\.backup)?\.gz$/;

type KeptBackup = { manifest: Pick<Manifest, 'systemId' | 'firstWal' | 'startedAt'> };

/** The backups of each cluster, and the moment of the oldest backup of any cluster. */
type PruneRule = { ofSystem: ReadonlyMap<string, readonly KeptBackup[]>; since: number };

/**
 * Removes archived WAL before the first file that every kept backup of its cluster needs. The oldest backup may need the latest file, if a
 * server went back to an earlier timeline. For a cluster without a backup it removes WAL older than every backup, because a first backup of
 * it may be in progress.
 */
async function pruneLog(folder: string, kept: readonly KeptBackup[]): Promise<number> {
  const [oldest] = kept;
  if (!oldest) return 0;
  const ofSystem = Map.groupBy(kept, ({ manifest }) => manifest.systemId);
  const needs = { ofSystem, since: Date.parse(oldest.manifest.startedAt) };
  let removed = 0;
  for (const system of await readNames(folder))
    if (SYSTEM_ID.test(system)) removed += await pruneFolder({ folder: join(folder, system), system }, needs);
  return removed;
}

async function pruneFolder(
  { folder, system }: { folder: string; system: string },
  needs: PruneRule,
): Promise<number> {
  let removed = 0;
  await forEach(await readNames(folder), async (name) => {
    const segment = SEGMENT.exec(name)?.[1];
    if (segment === undefined) return;
    const path = join(folder, name);
    if (!(await isOld({ path, segment, system }, needs))) return;
    await rm(path, { force: true });
    removed += 1;
  });
  return removed;
}

type LogFile = { path: string; segment: string; system: string };

async function isOld({ path, segment, system }: LogFile, { ofSystem, since }: PruneRule): Promise<boolean> {
  const kept = ofSystem.get(system);
  if (kept === undefined) return (await stat(path)).mtimeMs < since;
  return kept.every(({ manifest }) => isBefore(segment, manifest.firstWal));
}

/** Files of a later timeline never count as older: it may branch off before the copy. */
function isBefore(segment: string, needed: string): boolean {
  return segment.slice(8) < needed.slice(8) && segment.slice(0, 8) <= needed.slice(0, 8);
}

async function readNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
}
