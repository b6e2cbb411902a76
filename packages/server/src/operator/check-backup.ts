import { isAccepted } from '../features/restores/index.ts';
import { type Check, fail, type InspectedConfig, type InspectedDatabase, ok, warn } from './checks.ts';
import { messageOf } from './run.ts';

/** One night that was missed is seen in the next. */
const AGE_WARN_MS = 2 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** Where backups are meant to be made, that they are. */
export async function checkBackups({ backups }: InspectedConfig, now: number): Promise<Check[]> {
  if (!backups) return [];
  let newestAt: number | null;
  try {
    newestAt = await backups.newestAt();
  } catch (error) {
    return [fail('backup', messageOf(error), 'Look at BACKUP_DIR: what cannot be read cannot be restored')];
  }
  const next = 'Let a timer run the command backup every night';
  if (newestAt === null)
    return [warn('backup', `There is no backup of this database in ${backups.folder} yet`, next)];
  const age = now - newestAt;
  const message = `The newest backup is ${Math.round(age / HOUR_MS)} hours old`;
  return [age < AGE_WARN_MS ? ok('backup', message) : warn('backup', message, next)];
}

/** Asked of a database whose schema is that of this release. */
export async function checkRestored({ db }: Pick<InspectedDatabase, 'db'>): Promise<Check[]> {
  if (await isAccepted(db)) return [];
  return [
    fail(
      'restore',
      'This database was restored, or is a copy, and nobody has confirmed it: no letter leaves',
      'Run restore status, then restore confirm',
    ),
  ];
}

type Archive = { mode: string; command: string; system: string; failing: boolean; last: string | null };

/** The log is copied as it is written, where BACKUP_DIR is set; what cannot be copied fills the disk of the database. */
export async function checkArchive(
  { db }: Pick<InspectedDatabase, 'db'>,
  { backups }: Pick<InspectedConfig, 'backups'>,
): Promise<Check[]> {
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
      `${row.last} of the log could not be copied`,
      'Read the log of PostgreSQL in DATA_DIR: BACKUP_DIR may be full, or closed to it',
    ),
  ];
}

async function findMissed(
  { mode, command, system }: Archive,
  { folder, archiveCommand }: NonNullable<InspectedConfig['backups']>,
): Promise<Check[]> {
  if (mode === 'off')
    return [
      fail(
        'backup log',
        `BACKUP_DIR is set, and PostgreSQL copies no log to ${folder}: only what the last backup holds can be restored`,
        'Stop the server and every command on this DATA_DIR, so that PostgreSQL ends too, and start the server with BACKUP_DIR',
      ),
    ];
  if (command === (await archiveCommand(system))) return [];
  return [
    fail(
      'backup log',
      `PostgreSQL copies its log by a command that is not Beckon's, so none of it is known to lie in ${folder}`,
      'Start the server again with this BACKUP_DIR; where ALTER SYSTEM has set archive_command, reset it first',
    ),
  ];
}
