import type { Command } from 'commander';
import { silentLog } from '../base/log.ts';
import { listOrganizations } from '../features/team/index.ts';
import { DEMO_DAYS, DEMO_NAME, makeDemo, removeDemos } from '../flows/demo/index.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, runOpened } from './run.ts';

type Options = OutputOptions & { remove?: boolean };

const DAYS_SAID = 15;

export function addDemoCommand(program: Command, operator: Operator): void {
  program
    .command('demo')
    .description(
      `fill a project of its own, “${DEMO_NAME}”, with ${DEMO_DAYS} days of a product that is made up, so that every screen shows something; none of it ever leaves this machine`,
    )
    .option('--remove', 'take all demos out again')
    .option(...JSON_OPTION)
    .action((options: Options) => (options.remove ? remove(operator, options) : make(operator, options)));
}

function make(operator: Operator, options: Options): Promise<void> {
  return runOpened(operator, options, {
    work: async (opened) => {
      const [first] = await listOrganizations(opened.db);
      const { project, rows } = await makeDemo({
        ...opened,
        log: silentLog,
        organizationId: first?.id ?? null,
        onProgress: sayProgress(operator),
      });
      return { id: project.id, name: project.name, rows };
    },
    show: ({ id, name, rows }) =>
      `Made project ${id}, ${name}, of ${rows} rows. “demo --remove” takes it out again.`,
  });
}

/** It takes some twenty seconds, in which somebody waits. */
function sayProgress(operator: Operator): (part: number) => void {
  return (part) => {
    const day = Math.round(part * DEMO_DAYS);
    if (day % DAYS_SAID === 0) operator.complain(`Day ${day} of ${DEMO_DAYS}`);
  };
}

function remove(operator: Operator, options: Options): Promise<void> {
  return runOpened(operator, options, {
    work: async ({ db }) => {
      const removed = await removeDemos(db);
      return removed.map(({ id, name }) => ({ id, name }));
    },
    show: (removed) =>
      removed.length === 0
        ? 'There was no demo.'
        : removed.map(({ id, name }) => `Removed project ${id}, ${name}`).join('\n'),
  });
}
