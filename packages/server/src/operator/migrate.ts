import type { Command } from 'commander';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, run } from './run.ts';

export function addMigrateCommand(program: Command, operator: Operator): void {
  program
    .command('migrate')
    .description('bring the database up to this release')
    .option(...JSON_OPTION)
    .action((options: OutputOptions) =>
      run(operator, options, {
        work: () => operator.migrate(),
        show: ({ applied }) =>
          applied.length === 0 ? 'The database is up to date' : `Applied ${applied.join(', ')}`,
      }),
    );
}
