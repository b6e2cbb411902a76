import type { Command } from 'commander';
import { addCommand } from './command.ts';
import type { Operator } from './operator.ts';

export function addMigrateCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'migrate',
    help: 'Upgrade the database to the schema of this release',
    work: () => operator.migrate(),
    text: ({ applied }) =>
      applied.length === 0 ? 'The database is up to date' : `Applied ${applied.join(', ')}`,
  });
}
