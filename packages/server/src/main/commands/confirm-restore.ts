import { type Command, InvalidArgumentError } from 'commander';
import { iso } from '../../platform/time/clock.ts';
import { parseInstant } from '../../platform/time/instant.ts';
import { acceptUnchanged, confirmRestore } from '../../modules/operations/index.ts';
import { addCommand, withInstallation } from './command.ts';
import { OPERATOR, type OpenInstallation, type Operator } from './operator.ts';

type Options = {
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
    work: (options: Options) =>
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
export function readTime(text: string): number {
  const at = parseInstant(text);
  if (!Number.isNaN(at)) return at;
  throw new InvalidArgumentError('Use a time such as 2026-05-01T10:00:00Z.');
}

type Db = OpenInstallation['db'];

async function confirmUnchanged(db: Db, options: Options) {
  const { until, stoppedAt, nothingApproved, dryRun } = options;
  // These options say that something was lost, or that nothing may change yet.
  if (until !== undefined || stoppedAt !== undefined || nothingApproved || dryRun)
    throw new Error(
      '--nothing-lost takes no other option: it starts sending immediately, and checks no draft',
    );
  await acceptUnchanged(db);
  return { nothing_lost: true, sending_enabled: true };
}

async function confirm(db: Db, options: Options) {
  if (options.until === undefined)
    throw new Error('Pass --until with the time up to which the database has all data, or --nothing-lost');
  const { dryRun = false, nothingApproved = false } = options;
  const { restoredTo, stoppedAt, ...counts } = await confirmRestore(db, {
    restoredTo: options.until,
    stoppedAt: options.stoppedAt ?? null,
    nobodyApproved: nothingApproved,
    dryRun,
    actor: OPERATOR,
  });
  return { ...counts, restored_to: iso(restoredTo), stopped_at: iso(stoppedAt), sending_enabled: !dryRun };
}
