import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { ListedBackup, BackupResult } from '@beckon/postgres';
import { iso, systemClock } from '../../platform/time/clock.ts';
import { addCommand, table } from './command.ts';
import type { Backups, Operator } from './operator.ts';

const IN_OPTION = ['--in <folder>', 'Folder of the backups (default: BACKUP_DIR)'] as const;
const KEEP_DEFAULT = 7;

export function addBackupCommands(program: Command, operator: Operator): void {
  const backup = addCommand<{ to?: string }, Backup | KeyOnly>(program, operator, {
    name: 'backup',
    help: 'Back up the embedded database and the secret key, whether the server runs or not',
    options: (command) => command.option('--to <folder>', 'Folder for the backup (default: BACKUP_DIR)'),
    async work({ to }) {
      const backups = await operator.backups();
      const folder = folderOf(backups, to);
      return backups.isEmbedded ? backupJson(await backups.take(folder)) : backUpKey(backups, folder);
    },
    text: (result) =>
      'name' in result
        ? `Created ${result.path}: ${result.bytes} bytes, as of ${result.ended_at}`
        : `${result.message}\nThe secret key, encrypted with the passphrase: ${result.secret_key}`,
  });
  addCommand(backup, operator, {
    name: 'list',
    help: 'List backups, oldest first',
    options: (command) => command.option(...IN_OPTION),
    async work(options: { in?: string }) {
      const backups = await operator.backups();
      return (await backups.list(folderOf(backups, options.in))).map(backupJson);
    },
    text: (all) =>
      table(
        all.map(({ name, ended_at, bytes, postgres, release }) => ({
          name,
          'as of': ended_at,
          bytes,
          postgres,
          release,
        })),
        'This folder contains no backups',
      ),
  });
  addVerify(backup, operator);
  addPrune(backup, operator);
}

function addVerify(backup: Command, operator: Operator): void {
  addCommand(backup, operator, {
    name: 'verify',
    help: 'Read every byte of a backup and compare it with its checksums',
    options: (command) => command.requiredOption('--from <folder>', 'Folder of one backup'),
    async work({ from }: { from: string }) {
      const { files, bytes, manifest } = await (await operator.backups()).verify(resolve(from));
      return { files, bytes, ended_at: manifest.endedAt, postgres: manifest.postgres };
    },
    text: ({ files, bytes, ended_at }) =>
      `The backup is complete: ${files} files, ${bytes} bytes, as of ${ended_at}`,
  });
}

function addPrune(backup: Command, operator: Operator): void {
  addCommand(backup, operator, {
    name: 'prune',
    help: 'Delete old backups, and the parts of the write-ahead log (WAL) that no other backup needs',
    options: (command) =>
      command
        .option(...IN_OPTION)
        .option('--keep <count>', `Newest backups to keep per database (default: ${KEEP_DEFAULT})`, readKeep),
    async work({ in: folder, keep = KEEP_DEFAULT }: { in?: string; keep?: number }) {
      const backups = await operator.backups();
      const { removed, kept, walFiles } = await backups.prune(folderOf(backups, folder), keep);
      return { removed, kept, wal_files: walFiles };
    },
    text: ({ removed, kept, wal_files }) =>
      `Deleted ${removed.length} backups and ${wal_files} WAL files, and kept ${kept.length} backups`,
  });
}

function readKeep(text: string): number {
  const keep = Number(text);
  if (Number.isSafeInteger(keep) && keep >= 1 && keep <= 10_000) return keep;
  throw new InvalidArgumentError('Use an integer from 1 to 10000.');
}

type KeyOnly = { secret_key: string; message: string };

/** Other databases have better tools for a copy, which do not contain the secret key. */
async function backUpKey(backups: Backups, folder: string): Promise<KeyOnly> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `secret-key-${iso(systemClock.now()).slice(0, 19).replace(/[-:]/g, '')}Z.encrypted`;
  const path = join(folder, name);
  await writeFile(path, await backups.closeSecretKey(), { flag: 'wx', mode: 0o600 });
  return {
    secret_key: path,
    message:
      'Beckon does not copy the database of DATABASE_URL. Use pg_basebackup with a WAL archive, pgBackRest, or the tool of your provider.',
  };
}

function folderOf({ backupDir }: Pick<Backups, 'backupDir'>, folder: string | undefined): string {
  if (folder !== undefined) return resolve(folder);
  if (backupDir !== null) return backupDir;
  throw new Error('No folder. Pass --to or --in, or set BACKUP_DIR.');
}

type Backup = ReturnType<typeof backupJson>;

function backupJson({ name, path, manifest }: ListedBackup | BackupResult) {
  const { startedAt, endedAt, bytes, postgres, release, timeline } = manifest;
  return { name, path, started_at: startedAt, ended_at: endedAt, bytes, postgres, release, timeline };
}
