import { type Command, InvalidArgumentError } from 'commander';
import { resolve } from 'node:path';
import { addCommand, withInstallation } from './command.ts';
import { type OpenInstallation, type Operator, OPERATOR } from './operator.ts';
import { acceptUnchanged, closeGate, confirmRestore } from '../../modules/operations/index.ts';
import { recordIdentity } from '../../modules/sending/index.ts';
import { iso } from '../../platform/time/clock.ts';
import { parseInstant } from '../../platform/time/time-text.ts';

type Options = { from?: string; until?: number; timeline?: number; dataDir?: string };

export function addRestoreCommands(program: Command, operator: Operator): void {
  const restore = addCommand(program, operator, {
    name: 'restore',
    help: 'Restore DATA_DIR from a backup. No email is sent until confirm-restore.',
    options: (command) =>
      command
        .option('--from <folder>', 'Folder of one backup')
        .option('--until <time>', 'Time to restore, such as 2026-05-01T10:00:00Z (default: latest)', readTime)
        .option(
          '--timeline <number>',
          'Timeline of the write-ahead log (WAL) (default: latest used)',
          readTimeline,
        )
        .option('--data-dir <folder>', 'Target, which is empty or does not exist (default: DATA_DIR)'),
    work: (options: Options) => restoreBackup(operator, options),
    text: ({ data_dir: dataDir, restored_to: at }) =>
      `Restored ${dataDir} as of ${at}. Start the server: it accepts requests, and sends no email. ` +
      `Then run: beckon-server confirm-restore --until ${at} --stopped-at <time when the old server stopped> --dry-run`,
  });
  addStatus(restore, operator);
  addCommand(restore, operator, {
    name: 'close',
    help: 'Stop sending until confirm-restore, as after a restore. For a restored disk, which Beckon cannot notice.',
    work: () =>
      withInstallation(operator, async ({ db }) => {
        await closeGate(db);
        return { sending_enabled: false };
      }),
    text: () => 'No email is sent until beckon-server confirm-restore',
  });
  addCommand(restore, operator, {
    name: 'secret-key',
    help: 'Print the secret key from the file that backup wrote beside a database of your own',
    options: (command) => command.argument('<file>', 'Encrypted file, such as secret-key-….encrypted'),
    work: async (_options: object, [file = '']) => ({
      secret_key: await (await operator.backups()).openSecretKey(resolve(file)),
    }),
    text: ({ secret_key: key }) => key,
  });
}

function readTimeline(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError('Use a number such as 2.');
}

async function restoreBackup(operator: Operator, options: Options) {
  if (options.from === undefined) throw new Error('No backup. Pass --from <folder>.');
  const backups = await operator.backups();
  if (!backups.isEmbedded) throw new Error('DATABASE_URL is set. Restore that database with its own tools.');
  const dataDir = resolve(options.dataDir ?? backups.dataDir);
  const { manifest, restoredTo, timeline } = await backups.restore({
    from: resolve(options.from),
    until: options.until ?? null,
    timeline: options.timeline ?? null,
    dataDir,
  });
  const { endedAt } = manifest;
  return { data_dir: dataDir, restored_to: restoredTo ?? endedAt, backup_of: endedAt, timeline };
}

function addStatus(restore: Command, operator: Operator): void {
  addCommand(restore, operator, {
    name: 'status',
    help: 'Show whether this database was restored, and whether emails are sent',
    work: () =>
      withInstallation(operator, async ({ db }) => {
        const found = await recordIdentity(db, db.clock.now());
        return {
          sending_enabled: found.acceptedAt !== null,
          system_id: found.systemId,
          timeline: found.timeline,
          seen_at: found.seenAt.toISOString(),
          how: found.origin,
          restored_to: found.restoredTo?.toISOString() ?? null,
          stopped_at: found.stoppedAt?.toISOString() ?? null,
        };
      }),
    text: ({ sending_enabled, restored_to, seen_at }) => {
      const restored = restored_to === null ? '' : `. The database was restored to ${restored_to}`;
      return sending_enabled
        ? `Emails are sent${restored}`
        : `This database was restored and not confirmed. No email is sent since ${seen_at}. ` +
            'Run: beckon-server confirm-restore --until <time of the restored data> --dry-run';
    },
  });
}

type ConfirmOptions = {
  until?: number;
  stoppedAt?: number;
  nothingApproved?: boolean;
  nothingLost?: boolean;
  dryRun?: boolean;
};

export function addConfirmRestoreCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'confirm-restore',
    help: 'Confirm how much a restored database knows, decide the drafts of the lost time, and send emails again',
    options: (command) =>
      command
        .option('--until <time>', 'The database has all data up to this time', readTime)
        .option('--stopped-at <time>', 'Stop of the old server (default: first start of this one)', readTime)
        .option('--nothing-approved', 'No member approved or resumed anything in the lost time')
        .option('--nothing-lost', 'The database has all data: a standby, or a copy of a stopped database')
        .option('--dry-run', 'Count the drafts, and change nothing'),
    work: (options: ConfirmOptions) =>
      withInstallation(operator, async ({ db }) =>
        options.nothingLost ? confirmUnchanged(db, options) : confirm(db, options),
      ),
    text: (result) => {
      if ('nothing_lost' in result) return SENDING;
      const { unknown, review, unaffected, restored_to, stopped_at, sending_enabled } = result;
      return [
        `${unknown} emails may have been sent automatically between ${restored_to} and ${stopped_at}. Their delivery is unknown.`,
        `${review} may have been sent by a member. They wait for review.`,
        `${unaffected} were certainly not sent. They continue.`,
        sending_enabled ? SENDING : 'This was a dry run. Run the command again without --dry-run.',
      ].join('\n');
    },
  });
}

const SENDING = 'Emails are sent again';

/** Reads a time for an option. */
function readTime(text: string): number {
  const at = parseInstant(text);
  if (!Number.isNaN(at)) return at;
  throw new InvalidArgumentError('Use a time such as 2026-05-01T10:00:00Z.');
}

type Db = OpenInstallation['db'];

async function confirmUnchanged(db: Db, options: ConfirmOptions) {
  const { until, stoppedAt, nothingApproved, dryRun } = options;
  // These options say that something was lost, or that nothing may change yet.
  if (until !== undefined || stoppedAt !== undefined || nothingApproved || dryRun)
    throw new Error(
      '--nothing-lost takes no other option: it starts sending immediately, and checks no draft',
    );
  await acceptUnchanged(db);
  return { nothing_lost: true, sending_enabled: true };
}

async function confirm(db: Db, options: ConfirmOptions) {
  if (options.until === undefined)
    throw new Error('Pass --until with the time up to which the database has all data, or --nothing-lost');
  const { dryRun = false, nothingApproved = false } = options;
  const { restoredTo, stoppedAt, ...counts } = await confirmRestore(db, {
    restoredTo: options.until,
    stoppedAt: options.stoppedAt ?? null,
    nothingApproved,
    dryRun,
    actor: OPERATOR,
  });
  return { ...counts, restored_to: iso(restoredTo), stopped_at: iso(stoppedAt), sending_enabled: !dryRun };
}
