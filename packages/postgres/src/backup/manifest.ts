import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { BackupFailure, codeOf } from '../failure.ts';
import { SYSTEM_ID } from './system-id.ts';

/** The description of a backup. It is written last, next to the files that it lists. */
export type Manifest = {
  format: 1;
  release: string;
  /** `18.1`; the format of the files depends on the major version. */
  postgres: string;
  major: number;
  systemId: string;
  timeline: number;
  startLsn: string;
  stopLsn: string;
  /** The first and the last WAL file that the copy needs; both are in `wal/`. */
  firstWal: string;
  lastWal: string;
  startedAt: string;
  /** The earliest moment to which the database can be restored. */
  endedAt: string;
  bytes: number;
  /** Includes empty folders, which PostgreSQL requires too. */
  folders: string[];
  files: BackupFile[];
};

export type BackupFile = { path: string; bytes: number; sha256: string };

/** `backup-<moment>-<random bytes>`, so that names sort by creation. */
export const BACKUP_NAME = /^backup-\d{8}T\d{6}Z-[0-9a-f]{8}$/;
export const MANIFEST = 'manifest.json';
export const SECRETS = 'secrets.encrypted';
export const DATA = 'data';
export const WAL = 'wal';
export const WAL_NAME = /^[0-9A-F]{24}$/;

/** A database of a thousand tables has about ten thousand files. */
const MANIFEST_MAX_BYTES = 256 * 1024 * 1024;

export async function readManifest(backup: string): Promise<Manifest> {
  const path = join(backup, MANIFEST);
  const size = await stat(path).then(
    (found) => found.size,
    (error: unknown) => {
      if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error;
      throw new BackupFailure('not_found', `${backup} is not a backup, because it has no ${MANIFEST}`);
    },
  );
  if (size > MANIFEST_MAX_BYTES) throw broken(path, 'it is too large');
  return parseManifest(await readFile(path, 'utf8'), path);
}

function parseManifest(text: string, path: string): Manifest {
  let read: Partial<Record<keyof Manifest, unknown>> | null;
  try {
    read = JSON.parse(text) as typeof read;
  } catch (error) {
    throw broken(path, 'it is not JSON', error);
  }
  if (read?.format !== 1) throw broken(path, 'this release does not support its format');
  if (!isWhole(read)) throw broken(path, 'it is incomplete');
  return read as Manifest;
}

function isWhole(read: Partial<Record<keyof Manifest, unknown>>): boolean {
  const texts = [read.release, read.postgres, read.startLsn, read.stopLsn];
  return (
    SYSTEM_ID.test(String(read.systemId)) &&
    texts.every((value) => typeof value === 'string') &&
    [read.startedAt, read.endedAt].every((value) => !Number.isNaN(Date.parse(String(value)))) &&
    [read.major, read.timeline, read.bytes].every((value) => Number.isSafeInteger(value)) &&
    [read.firstWal, read.lastWal].every((value) => WAL_NAME.test(String(value))) &&
    areAll(read.folders, isInside) &&
    areAll(read.files, isFile) &&
    (read.files as BackupFile[]).some(({ path }) => path === SECRETS)
  );
}

function areAll(list: unknown, is: (value: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every((value) => is(value));
}

function isFile(value: unknown): boolean {
  const { path, bytes, sha256 } = (value ?? {}) as Partial<Record<keyof BackupFile, unknown>>;
  return isInside(path) && Number.isSafeInteger(bytes) && /^[0-9a-f]{64}$/.test(String(sha256));
}

/** Rejects a path that leaves the backup, because no backup of ours contains one. */
function isInside(path: unknown): path is string {
  return (
    typeof path === 'string' &&
    path !== '' &&
    !isAbsolute(path) &&
    normalize(path) === path &&
    !path.startsWith('..')
  );
}

function broken(path: string, why: string, cause?: unknown): BackupFailure {
  return new BackupFailure('broken', `${path} cannot be used: ${why}`, cause);
}
