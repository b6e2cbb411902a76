import type { Command } from 'commander';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, run } from './run.ts';

export function addUpgradeCommand(program: Command, operator: Operator): void {
  program
    .command('upgrade-database')
    .description(
      'copy an embedded database of an older PostgreSQL into the one of this release; the server is stopped',
    )
    .option('--discard-old', 'remove what an upgrade has kept of the old one')
    .option(...JSON_OPTION)
    .action((options: OutputOptions & { discardOld?: boolean }) =>
      options.discardOld ? discard(operator, options) : upgrade(operator, options),
    );
}

function upgrade(operator: Operator, options: OutputOptions): Promise<void> {
  return run(operator, options, {
    async work() {
      const backups = await operator.backups();
      if (!backups.isEmbedded)
        throw new Error('DATABASE_URL is set: its database is upgraded by its own tools, not by Beckon');
      const { from, to, tables, kept } = await backups.upgrade();
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      return { from, to, tables: tables.length, rows, kept };
    },
    show: ({ from, to, tables, rows, kept }) =>
      `PostgreSQL ${from} became ${to}: ${rows} rows of ${tables} tables are the same. ` +
      `The old one is in ${kept}, until upgrade-database --discard-old`,
  });
}

function discard(operator: Operator, options: OutputOptions): Promise<void> {
  return run(operator, options, {
    work: async () => ({ removed: await (await operator.backups()).discardOld() }),
    show: ({ removed }) => (removed.length === 0 ? 'Nothing was kept' : `Removed ${removed.join(', ')}`),
  });
}
