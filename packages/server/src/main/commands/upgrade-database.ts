import type { Command } from 'commander';
import { addCommand } from './command.ts';
import type { Operator } from './operator.ts';

export function addUpgradeCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'upgrade-database',
    help: 'Copy an embedded database of an older PostgreSQL into a new one. Stop the server first.',
    options: (command) =>
      command.option('--discard-old', 'Delete the old database that an earlier upgrade kept'),
    async work({ discardOld }: { discardOld?: boolean }) {
      const backups = await operator.backups();
      if (discardOld) return { removed: await backups.discardOld() };
      if (!backups.isEmbedded)
        throw new Error('DATABASE_URL is set. Upgrade that database with its own tools.');
      const { from, to, tables, kept } = await backups.upgrade();
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      return { from, to, tables: tables.length, rows, kept };
    },
    text: (result) =>
      'kept' in result
        ? `Upgraded PostgreSQL ${result.from} to ${result.to}. ${result.rows} rows of ${result.tables} tables are the same. ` +
          `The old database is in ${result.kept}. Delete it with: beckon-server upgrade-database --discard-old`
        : result.removed.length === 0
          ? 'No old database is kept'
          : `Deleted ${result.removed.join(', ')}`,
  });
}
