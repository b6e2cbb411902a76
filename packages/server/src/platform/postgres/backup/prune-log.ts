import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../failure.ts';
import { forEach } from './copy-file.ts';
import type { Manifest } from './manifest.ts';
import { SYSTEM_ID } from './system-id.ts';

const SEGMENT = /^([0-9A-F]{24})(\.[0-9A-F]{8}\.backup)?\.gz$/;

type Kept = { manifest: Pick<Manifest, 'systemId' | 'firstWal' | 'startedAt'> };

/** The backups of each cluster, and the moment of the oldest backup of any cluster. */
type Needs = { ofSystem: ReadonlyMap<string, readonly Kept[]>; since: number };

/**
 * Removes archived WAL before the first file that every kept backup of its cluster needs. The oldest backup may need the latest file, if a
 * server went back to an earlier timeline. For a cluster without a backup it removes WAL older than every backup, because a first backup of
 * it may be in progress.
 */
export async function pruneLog(folder: string, kept: readonly Kept[]): Promise<number> {
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
  needs: Needs,
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

async function isOld({ path, segment, system }: LogFile, { ofSystem, since }: Needs): Promise<boolean> {
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
