import type { Command } from 'commander';
import { type ListedName, listNames } from '../features/events/index.ts';
import { findProject } from '../features/projects/index.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { table } from './table.ts';

export function addEventCommands(program: Command, operator: Operator): void {
  program
    .command('event')
    .description('the events that a project sends')
    .command('list')
    .description('list their names, the busiest of the last 30 days first, with the properties seen so far')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: { project: string } & OutputOptions) =>
      runOpened(operator, options, {
        work: async ({ db }) => listNames(db, (await findProject(db, options.project)).id, db.clock.now()),
        show: (names) => table(names.map(toRow), 'This project has sent no event yet'),
      }),
    );
}

function toRow({ canonical, properties, ...name }: ListedName) {
  return {
    ...name,
    canonical: canonical ? 'yes' : 'no',
    properties: properties.map(describeProperty).join(', '),
  };
}

function describeProperty({ property, types, conflict }: ListedName['properties'][number]): string {
  return `${property}: ${types.join(' or ')}${conflict ? ' (conflict)' : ''}`;
}
