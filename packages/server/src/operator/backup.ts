import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { iso, systemClock } from '../base/clock.ts';
import type { Listed, Taken } from '../io/embedded/index.ts';
import type { Backups, Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, run } from './run.ts';
import { table } from './table.ts';
import { wholeOptions } from './whole-options.ts';

const TO_OPTION = ['--to <folder>', 'where it goes; BACKUP_DIR where it is left out'] as const;
const IN_OPTION = ['--in <folder>', 'where the backups lie; BACKUP_DIR where it is left out'] as const;
const KEEP_DEFAULT = 7;

export function addBackupCommands(program: Command, operator: Operator): void {
  const backup = program
    .command('backup')
    .description('copy the embedded database and the secret key, while the server runs or not')
    .option(...TO_OPTION)
    .option(...JSON_OPTION)
    .action((options: OutputOptions & { to?: string }) => take(operator, options));
  backup
    .command('list')
    .description('the backups that there are, the oldest first')
    .option(...IN_OPTION)
    .option(...JSON_OPTION)
    .action(
      wholeOptions((options: OutputOptions & { in?: string }) =>
        run(operator, options, {
          async work() {
            const backups = await operator.backups();
            return (await backups.list(placeOf(backups, options.in))).map(toShown);
          },
          show: showList,
        }),
      ),
    );
  addVerify(backup, operator);
  addPrune(backup, operator);
}

function addVerify(backup: Command, operator: Operator): void {
  backup
    .command('verify')
    .description('read every byte of a backup, and say whether it is what was written')
    .requiredOption('--from <folder>', 'the folder of one backup')
    .option(...JSON_OPTION)
    .action(
      wholeOptions((options: OutputOptions & { from: string }) =>
        run(operator, options, {
          async work() {
            const backups = await operator.backups();
            const { files, bytes, manifest } = await backups.verify(resolve(options.from));
            return { files, bytes, ended_at: manifest.endedAt, postgres: manifest.postgres };
          },
          show: ({ files, bytes, ended_at: at }) => `It is whole: ${files} files, ${bytes} bytes, of ${at}`,
        }),
      ),
    );
}

function addPrune(backup: Command, operator: Operator): void {
  backup
    .command('prune')
    .description('remove old backups, and of the log what no backup needs that stays')
    .option(...IN_OPTION)
    .option(
      '--keep <count>',
      `how many of the newest of each database stay; ${KEEP_DEFAULT} where it is left out`,
      readKeep,
      KEEP_DEFAULT,
    )
    .option(...JSON_OPTION)
    .action(
      wholeOptions((options: OutputOptions & { in?: string; keep: number }) =>
        run(operator, options, {
          async work() {
            const backups = await operator.backups();
            const pruned = await backups.prune(placeOf(backups, options.in), options.keep);
            return { removed: pruned.removed, kept: pruned.kept, log_files: pruned.walFiles };
          },
          show: ({ removed, kept, log_files: files }) =>
            `Removed ${removed.length} backups and ${files} files of the log; ${kept.length} backups stay`,
        }),
      ),
    );
}

function readKeep(text: string): number {
  const keep = Number(text);
  if (!Number.isSafeInteger(keep) || keep < 1 || keep > 10_000)
    throw new InvalidArgumentError('It must be a whole number from 1 to 10000');
  return keep;
}

function take(operator: Operator, options: OutputOptions & { to?: string }): Promise<void> {
  return run<Shown | SecretOnly>(operator, options, {
    async work() {
      const backups = await operator.backups();
      const to = placeOf(backups, options.to);
      return backups.isEmbedded ? toShown(await backups.take(to)) : secretOnly(backups, to);
    },
    show: (shown) =>
      'name' in shown
        ? `Made ${shown.path}: ${shown.bytes} bytes, as of ${shown.ended_at}`
        : `${shown.message}\nThe secret key, closed by the passphrase: ${shown.secret_key}`,
  });
}

type SecretOnly = { secret_key: string; message: string };

/** A database of your own has tools that copy it better than we could; what they do not have is the key. */
async function secretOnly(backups: Backups, to: string): Promise<SecretOnly> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const name = `secret-key-${iso(systemClock.now()).slice(0, 19).replace(/[-:]/g, '')}Z.sealed`;
  const path = join(to, name);
  await writeFile(path, await backups.closeSecretKey(), { flag: 'wx', mode: 0o600 });
  return {
    secret_key: path,
    message:
      'The database of DATABASE_URL is not copied by Beckon: use pg_basebackup with an archive of the log, pgBackRest, or what your provider has',
  };
}

function placeOf({ backupDir }: Pick<Backups, 'backupDir'>, given: string | undefined): string {
  if (given !== undefined) return resolve(given);
  if (backupDir !== null) return backupDir;
  throw new Error('Say where: by --to or --in, or by BACKUP_DIR');
}

function toShown({ name, path, manifest }: Listed | Taken) {
  const { startedAt, endedAt, bytes, postgres, release, timeline } = manifest;
  return { name, path, started_at: startedAt, ended_at: endedAt, bytes, postgres, release, timeline };
}

type Shown = ReturnType<typeof toShown>;

function showList(shown: Shown[]): string {
  const rows = shown.map((one) => ({
    name: one.name,
    'as of': one.ended_at,
    bytes: String(one.bytes),
    postgres: one.postgres,
    release: one.release,
  }));
  return table(rows, 'There are no backups here');
}
