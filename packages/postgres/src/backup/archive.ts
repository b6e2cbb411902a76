import { chmod, chown, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, findClosedFolder, permits, READ } from '../account.ts';
import { BackupFailure } from '../failure.ts';
import { WAL } from './manifest.ts';

/**
 * The WAL archive: PostgreSQL copies each finished WAL file, so that the database can be restored to any moment since the last backup.
 * PostgreSQL runs the commands in a shell, with its own account.
 */
const TIMEOUT_S = 60;

export type ArchiveHome = { runAs: Account | undefined };

/** Creates the folder of the archive, which belongs to the account of PostgreSQL. */
export async function readyArchive(backupDir: string, home: ArchiveHome): Promise<string> {
  await mkdir(backupDir, { recursive: true, mode: 0o700 });
  const folder = join(await realpath(backupDir), WAL);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { runAs } = home;
  if (!runAs) return folder;
  await giveEmpty(folder, runAs);
  const parent = await stat(backupDir);
  if (!permits(parent, runAs, 1)) await chmod(backupDir, (parent.mode & 0o7777) | 0o001);
  const closed = await findClosedFolder(folder, runAs);
  if (closed !== undefined)
    throw new BackupFailure(
      'unwritable',
      `BACKUP_DIR is ${backupDir}, but ${closed} is not accessible to ${runAs.name}, the user of PostgreSQL. Run: chmod o+x ${closed}`,
    );
  return folder;
}

/** Each cluster has its own folder, because two clusters use the same names for their WAL files. */
export function clusterArchive(archive: string, systemId: string): string {
  return join(archive, systemId);
}

export async function readyClusterArchive(
  archive: string,
  { systemId, runAs }: ArchiveHome & { systemId: string },
): Promise<string> {
  const folder = clusterArchive(archive, systemId);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (runAs) await giveEmpty(folder, runAs);
  return folder;
}

async function giveEmpty(folder: string, account: Account): Promise<void> {
  const { uid } = await stat(folder);
  if (uid !== account.uid && (await readdir(folder)).length === 0)
    await chown(folder, account.uid, account.gid);
}

/**
 * Writes to a temporary name, and syncs it before the file gets its name. `ln` fails if the name exists: archiving the same file again
 * succeeds, and another file never replaces it.
 */
export function archiveCommand(folder: string): string {
  const quotedFolder = shellQuoted(folder);
  const [file, part] = [`${quotedFolder}/%f.gz`, `${quotedFolder}/.%f.part`];
  return (
    `if [ -e ${file} ]; then gzip -dc ${file} | cmp -s - "%p"; ` +
    `else gzip -1 -c "%p" > ${part} && sync ${part} && ln ${part} ${file} && rm -f ${part} && sync ${quotedFolder}; fi`
  );
}

export function archiveSettings(folder: string): Record<string, string> {
  return {
    archive_mode: 'on',
    archive_command: confQuoted(archiveCommand(folder)),
    archive_timeout: String(TIMEOUT_S),
  };
}

/** Returns the command with which this cluster archives its WAL in BACKUP_DIR. */
export async function archiveCommandOf(backupDir: string, systemId: string): Promise<string> {
  return archiveCommand(clusterArchive(join(await realpath(backupDir), WAL), systemId));
}

/** Returns the command that reads WAL from the archive. The WAL in the backup itself is already in place. */
export async function restoreCommand(folder: string | undefined, home: ArchiveHome): Promise<string> {
  if (folder === undefined) return 'exit 1';
  const { runAs } = home;
  const closed = runAs && (await findClosedTo(folder, runAs));
  if (closed !== undefined) {
    // Files of another account can be given to this one; a folder above the archive cannot.
    const next = closed.startsWith(folder) ? `chown -R ${runAs?.name} ${folder}` : `chmod o+x ${closed}`;
    throw new BackupFailure(
      'unwritable',
      `${closed} is not readable by ${runAs?.name}, the user of PostgreSQL. Run: ${next}`,
    );
  }
  const file = `${shellQuoted(folder)}/%f.gz`;
  return `if [ -e ${file} ]; then exec gzip -dc ${file} > "%p"; fi; exit 1`;
}

async function findClosedTo(folder: string, account: Account): Promise<string | undefined> {
  const closed = await findClosedFolder(folder, account);
  if (closed !== undefined) return closed;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (name.endsWith('.gz') && !permits(await stat(path), account, READ)) return path;
  }
  return undefined;
}

/** `%` begins a placeholder of PostgreSQL. */
function shellQuoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`;
}

function confQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
