import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupFailure, codeOf } from '../failure.ts';
import type { Home } from '../home.ts';
import { confName } from '../product.ts';
import { copyFileSafely, forEach } from './copy-file.ts';
import { type BackupFile, DATA } from './manifest.ts';

/** PostgreSQL recreates the content of these folders at a start; the folders themselves must exist. */
const EMPTIED = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const LEFT_OUT = [
  'postmaster.pid',
  'postmaster.opts',
  'current_logfiles.tmp',
  'backup_label',
  'tablespace_map',
  'backup_manifest',
  'recovery.signal',
  'standby.signal',
];
const TEMPORARY = /^(pgsql_tmp|pg_internal\.init|t\d+_\d+)|\.init-\d+-[0-9a-f]{8}$/;
/** Copied last, so that all other files are older than its content. */
const CONTROL = 'global/pg_control';

export type CopiedCluster = { files: BackupFile[]; folders: string[] };

/** Copies the folder of a running cluster in backup mode. Replaying the WAL repairs the files that change during the copy. */
export async function copyCluster(
  { data, product }: Pick<Home, 'data' | 'product'>,
  backup: string,
): Promise<CopiedCluster> {
  // The next start writes the settings file again.
  const leftOut = new Set([...LEFT_OUT, confName(product)]);
  const found: FolderListing = { leftOut, files: [], folders: [] };
  await lookInto(data, '', found);
  const files: BackupFile[] = [];
  const copyPath = async (path: string): Promise<void> => {
    const copy = await copyFileSafely(join(data, path), join(backup, DATA, path)).catch(unlessGone);
    if (copy) files.push({ path: `${DATA}/${path}`, ...copy });
  };
  await forEach(found.files, copyPath);
  await copyPath(CONTROL);
  return { files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)), folders: found.folders };
}

type FolderListing = { leftOut: ReadonlySet<string>; files: string[]; folders: string[] };

async function lookInto(data: string, folder: string, found: FolderListing): Promise<void> {
  const entries = EMPTIED.has(folder) ? [] : await readFolder(join(data, folder));
  if (folder !== '') found.folders.push(folder);
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (TEMPORARY.test(entry.name) || found.leftOut.has(path) || path === CONTROL) continue;
    if (entry.isDirectory()) await lookInto(data, path, found);
    else if (entry.isFile()) found.files.push(path);
    else
      throw new BackupFailure(
        'tablespaces',
        `${join(data, path)} points outside of the database folder, which a backup does not follow`,
      );
  }
}

async function readFolder(folder: string): Promise<Dirent[]> {
  return (await readdir(folder, { withFileTypes: true }).catch(unlessGone)) ?? [];
}

/** A table may be dropped during the copy. The WAL records that too. */
function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
