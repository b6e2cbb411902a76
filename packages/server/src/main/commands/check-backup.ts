import { isAccepted } from '../../modules/sending/index.ts';
import {
  type InstallationCheck,
  fail,
  type InspectedConfig,
  type InspectedDatabase,
  ok,
  warn,
} from './checks.ts';
import { messageOf } from './command.ts';

/** Older than this, a nightly backup was missed. */
const AGE_WARN_MS = 2 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** Checks that a recent backup exists, if BACKUP_DIR is set. */
export async function checkBackups({ backups }: InspectedConfig, now: number): Promise<InstallationCheck[]> {
  if (!backups) return [];
  let newestAt: number | null;
  try {
    newestAt = await backups.newestAt();
  } catch (error) {
    return [
      fail('backup', messageOf(error), 'Check BACKUP_DIR: a backup that cannot be read cannot be restored'),
    ];
  }
  const next = 'Run beckon-server backup every night, by a timer';
  if (newestAt === null)
    return [warn('backup', `${backups.folder} contains no backup of this database yet`, next)];
  const age = now - newestAt;
  const message = `The newest backup is ${Math.round(age / HOUR_MS)} hours old`;
  return [age < AGE_WARN_MS ? ok('backup', message) : warn('backup', message, next)];
}

/** Needs the schema of this release. */
export async function checkRestored({ db }: Pick<InspectedDatabase, 'db'>): Promise<InstallationCheck[]> {
  if (await isAccepted(db)) return [];
  return [
    fail(
      'restore',
      'This database was restored or copied, and not confirmed: no email is sent',
      'Run beckon-server restore status, then beckon-server confirm-restore',
    ),
  ];
}

type Archive = { mode: string; command: string; system: string; failing: boolean; last: string | null };

/** With BACKUP_DIR, PostgreSQL archives its log as it is written. Log files that cannot be archived fill the disk of the database. */
export async function checkArchive(
  { db }: Pick<InspectedDatabase, 'db'>,
  { backups }: Pick<InspectedConfig, 'backups'>,
): Promise<InstallationCheck[]> {
  const [row] = await db.query<Archive>(
    `SELECT current_setting('archive_mode') AS mode, current_setting('archive_command') AS command,
       (SELECT system_identifier::text FROM pg_control_system()) AS system, last_failed_wal AS last,
       coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS failing FROM pg_stat_archiver`,
  );
  if (!row) return [];
  const missed = backups ? await findMissed(row, backups) : [];
  if (missed.length > 0 || !row.failing || row.mode === 'off') return missed;
  return [
    fail(
      'backup log',
      `The log file ${row.last} could not be archived`,
      'Read postgres.log in DATA_DIR: BACKUP_DIR may be full or not writable',
    ),
  ];
}

async function findMissed(
  { mode, command, system }: Archive,
  { folder, archiveCommand }: NonNullable<InspectedConfig['backups']>,
): Promise<InstallationCheck[]> {
  if (mode === 'off')
    return [
      fail(
        'backup log',
        `BACKUP_DIR is set, and PostgreSQL archives no log in ${folder}: only the state of the last backup can be restored`,
        'Stop the server and every command on this DATA_DIR, which stops PostgreSQL. Then start the server with BACKUP_DIR.',
      ),
    ];
  if (command === (await archiveCommand(system))) return [];
  return [
    fail(
      'backup log',
      `PostgreSQL archives its log with a command that is not Beckon's, so ${folder} may have none of it`,
      'Restart the server with this BACKUP_DIR. If ALTER SYSTEM has set archive_command, reset it first.',
    ),
  ];
}
