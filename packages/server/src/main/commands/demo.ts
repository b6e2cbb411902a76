import type { Command } from 'commander';
import { silentLog } from '../../platform/log.ts';
import { listOrganizations } from '../../modules/workspace/index.ts';
import { DEMO_DAYS, DEMO_NAME, makeDemo, removeDemos } from '../../modules/operations/index.ts';
import { addCommand, withInstallation } from './command.ts';
import type { Operator } from './operator.ts';

const PROGRESS_DAYS = 15;

export function addDemoCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'demo',
    help: `Create the project ${DEMO_NAME} with ${DEMO_DAYS} days of sample data. It never sends an email.`,
    options: (command) => command.option('--remove', 'Delete all demo projects'),
    work: async ({ remove }: { remove?: boolean }) => (remove ? removeAll(operator) : create(operator)),
    text: (result) => {
      if (!Array.isArray(result))
        return `Created project ${result.id}, ${result.name}, with ${result.rows} rows. Delete it with: beckon-server demo --remove`;
      return result.length === 0
        ? 'No demo project exists'
        : result.map(({ id, name }) => `Deleted project ${id}, ${name}`).join('\n');
    },
  });
}

function create(operator: Operator) {
  return withInstallation(operator, async (installation) => {
    const [organization] = await listOrganizations(installation.db);
    const { project, rows } = await makeDemo({
      ...installation,
      log: silentLog,
      organizationId: organization?.id ?? null,
      onProgress: printProgress(operator),
    });
    return { id: project.id, name: project.name, rows };
  });
}

/** A demo takes about twenty seconds, so its progress is shown. */
function printProgress(operator: Operator): (part: number) => void {
  return (part) => {
    const day = Math.round(part * DEMO_DAYS);
    if (day % PROGRESS_DAYS === 0) operator.printError(`Day ${day} of ${DEMO_DAYS}`);
  };
}

function removeAll(operator: Operator) {
  return withInstallation(operator, async ({ db }) =>
    (await removeDemos(db)).map(({ id, name }) => ({ id, name })),
  );
}
