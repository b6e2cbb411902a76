import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { iso } from '../base/clock.ts';
import { parseInstant } from '../base/instant.ts';
import { noteHere } from '../features/restores/index.ts';
import { acceptUnchanged, closeGate, type Confirmed, confirmRestore } from '../flows/confirm-restore.ts';
import { OPERATOR, type Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, run, runInRealTime } from './run.ts';
import { wholeOptions } from './whole-options.ts';

type Restoring = OutputOptions & { from?: string; until?: number; timeline?: number; dataDir?: string };

export function addRestoreCommands(program: Command, operator: Operator): void {
  const restore = program
    .command('restore')
    .description('make DATA_DIR of a backup; letters then wait until the restore is confirmed')
    .option('--from <folder>', 'the folder of one backup')
    .option(
      '--until <moment>',
      'as of this moment, such as 2026-05-01T10:00:00Z; else all that there is',
      readMoment,
    )
    .option(
      '--timeline <number>',
      'along this timeline of the log; else the one on which somebody worked last',
      readTimeline,
    )
    .option('--data-dir <folder>', 'where to, an empty folder or none; DATA_DIR where it is left out')
    .option(...JSON_OPTION)
    .action((options: Restoring) => put(operator, options));
  addStatus(restore, operator);
  addConfirm(restore, operator);
  addClose(restore, operator);
  addSecretKey(restore, operator);
}

function readMoment(text: string): number {
  const at = parseInstant(text);
  if (Number.isNaN(at)) throw new InvalidArgumentError('It must be a moment such as 2026-05-01T10:00:00Z');
  return at;
}

function readTimeline(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('It must be a number such as 2');
  return number;
}

function put(operator: Operator, options: Restoring): Promise<void> {
  return run(operator, options, {
    async work() {
      if (options.from === undefined) throw new Error('Say which backup: --from <folder>');
      const backups = await operator.backups();
      if (!backups.isEmbedded)
        throw new Error('DATABASE_URL is set: its database is restored by its own tools, not by Beckon');
      const dataDir = resolve(options.dataDir ?? backups.dataDir);
      const from = resolve(options.from);
      const { manifest, restoredTo, timeline } = await backups.restore({
        from,
        until: options.until ?? null,
        timeline: options.timeline ?? null,
        dataDir,
      });
      return {
        data_dir: dataDir,
        restored_to: restoredTo ?? manifest.endedAt,
        backup_of: manifest.endedAt,
        timeline,
      };
    },
    show: ({ data_dir: dataDir, restored_to: at }) =>
      `Restored ${dataDir} as of ${at}. Start the server: it accepts requests, and no letter leaves. ` +
      `Then: restore confirm --until ${at} --stopped-at <when the server before it stopped> --dry-run`,
  });
}

function addStatus(restore: Command, operator: Operator): void {
  restore
    .command('status')
    .description('whether this database was restored, and whether letters leave')
    .option(...JSON_OPTION)
    .action(
      wholeOptions((options: OutputOptions) =>
        runInRealTime(operator, options, {
          work: async ({ db }) => {
            const found = await noteHere(db, db.clock.now());
            return {
              sending_enabled: found.acceptedAt !== null,
              system_id: found.systemId,
              timeline: found.timeline,
              seen_at: found.seenAt.toISOString(),
              how: found.how,
              restored_to: found.restoredTo?.toISOString() ?? null,
              stopped_at: found.stoppedAt?.toISOString() ?? null,
            };
          },
          show: (shown) =>
            shown.sending_enabled
              ? `Letters leave${shown.restored_to === null ? '' : `; it was restored to ${shown.restored_to}`}`
              : `This database was restored, and nobody has confirmed it: no letter leaves since ${shown.seen_at}. ` +
                'Say up to when it knows what happened: restore confirm --until <moment> --dry-run',
        }),
      ),
    );
}

type ConfirmOptions = OutputOptions & {
  until?: number;
  stoppedAt?: number;
  nobodyApproved?: boolean;
  nothingLost?: boolean;
  dryRun?: boolean;
};

function addConfirm(restore: Command, operator: Operator): void {
  restore
    .command('confirm')
    .description('say up to when the database knows what happened, and let letters leave again')
    .option('--until <moment>', 'it knows what happened until then', readMoment)
    .option(
      '--stopped-at <moment>',
      'when the server before it stopped; the first start of this one where it is left out',
      readMoment,
    )
    .option('--nobody-approved', 'nobody approved, released or resumed anything in between')
    .option('--nothing-lost', 'it knows everything: a standby, or a copy of one that was stopped before')
    .option('--dry-run', 'count, and change nothing')
    .option(...JSON_OPTION)
    .action(
      wholeOptions((options: ConfirmOptions) =>
        options.nothingLost ? confirmUnchanged(operator, options) : confirm(operator, options),
      ),
    );
}

function confirmUnchanged(operator: Operator, options: ConfirmOptions): Promise<void> {
  const { until, stoppedAt, nobodyApproved, dryRun } = options;
  return runInRealTime(operator, options, {
    work: async ({ db }) => {
      // Whoever says one of these believes that something was lost, or that nothing happens yet.
      if (until !== undefined || stoppedAt !== undefined || nobodyApproved || dryRun)
        throw new Error('--nothing-lost stands alone: it opens the gate at once, and looks at no letter');
      await acceptUnchanged(db);
      return { sending_enabled: true };
    },
    show: () => 'Letters leave again',
  });
}

function confirm(operator: Operator, options: ConfirmOptions): Promise<void> {
  return runInRealTime(operator, options, {
    work: async ({ db }) => {
      if (options.until === undefined)
        throw new Error('Say up to when it knows what happened: --until <moment>, or --nothing-lost');
      const done = await confirmRestore(db, {
        restoredTo: options.until,
        stoppedAt: options.stoppedAt ?? null,
        nobodyApproved: options.nobodyApproved ?? false,
        dryRun: options.dryRun ?? false,
        actor: OPERATOR,
      });
      return toShown(done, options.dryRun ?? false);
    },
    show: describe,
  });
}

function toShown({ restoredTo, stoppedAt, ...counts }: Confirmed, dryRun: boolean) {
  return { ...counts, restored_to: iso(restoredTo), stopped_at: iso(stoppedAt), sending_enabled: !dryRun };
}

function describe(shown: ReturnType<typeof toShown>): string {
  const { unknown, review, flows, sending_enabled: leave } = shown;
  const lines = [
    `${unknown} letters may have left by themselves between ${shown.restored_to} and ${shown.stopped_at}: unknown`,
    `${review} may have left by somebody's doing: they wait for a person`,
    `${flows} cannot have left: they go on`,
    leave ? 'Letters leave again' : 'Nothing was changed: without --dry-run it is',
  ];
  return lines.join('\n');
}

function addClose(restore: Command, operator: Operator): void {
  restore
    .command('close')
    .description(
      'have no letter leave, as after a restore: where a disk was put back, which PostgreSQL cannot know',
    )
    .option(...JSON_OPTION)
    .action(
      wholeOptions((options: OutputOptions) =>
        runInRealTime(operator, options, {
          work: async ({ db }) => {
            await closeGate(db);
            return { sending_enabled: false };
          },
          show: () => 'No letter leaves until restore confirm',
        }),
      ),
    );
}

function addSecretKey(restore: Command, operator: Operator): void {
  restore
    .command('secret-key')
    .description('print the secret key that was kept beside a database of your own')
    .argument('<file>', 'secret-key-….sealed')
    .option(...JSON_OPTION)
    .action((file: string, _own: object, command: Command) => {
      const options = command.optsWithGlobals<OutputOptions>();
      return run(operator, options, {
        work: async () => ({ secret_key: await (await operator.backups()).openSecretKey(resolve(file)) }),
        show: ({ secret_key: key }) => key,
      });
    });
}
