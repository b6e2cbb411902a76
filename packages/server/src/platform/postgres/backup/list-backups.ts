import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../failure.ts';
import { forEach, hashFile } from './copy-file.ts';
import { BackupFailure } from './failure.ts';
import { draftNameOf } from './partials.ts';
import { BACKUP_NAME, type Manifest, readManifest, WAL } from './manifest.ts';
import { pruneLog } from './prune-log.ts';

export type Listed = { name: string; path: string; manifest: Omit<Manifest, 'files' | 'folders'> };

/** Lists complete backups, oldest first. */
export async function listBackups(folder: string): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const name of await namesIn(folder)) {
    const { files: _files, folders: _folders, ...manifest } = await readManifest(join(folder, name));
    listed.push({ name, path: join(folder, name), manifest });
  }
  return listed;
}

/** Returns when the last complete backup of this cluster ended; null if it has none. Backups of other clusters do not count. */
export async function newestBackupAt(folder: string, systemId: string): Promise<number | null> {
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
  return names.filter((one) => BACKUP_NAME.test(one)).toSorted();
}

export type Verified = { files: number; bytes: number; manifest: Manifest };

/** Verifies every byte. */
export async function verifyBackup(backup: string): Promise<Verified> {
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

export type Pruned = { removed: string[]; kept: string[]; walFiles: number };

/** Keeps the newest backups of each cluster, and the archived WAL that they need. */
export async function pruneBackups(folder: string, keep: number): Promise<Pruned> {
  const listed = await listBackups(folder);
  const ofSystem = Map.groupBy(listed, ({ manifest }) => manifest.systemId);
  const staying = new Set([...ofSystem.values()].flatMap((own) => own.slice(-keep)));
  const gone = listed.filter((one) => !staying.has(one));
  for (const { name, path } of gone) {
    // Renamed first, so that a partly deleted backup never looks like a backup.
    const draft = join(folder, draftNameOf(name));
    await rename(path, draft);
    await rm(draft, { recursive: true, force: true });
  }
  const kept = listed.filter((one) => staying.has(one));
  return {
    removed: gone.map(({ name }) => name),
    kept: kept.map(({ name }) => name),
    walFiles: await pruneLog(join(folder, WAL), kept),
  };
}
