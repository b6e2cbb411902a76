import type { Command } from 'commander';
import { findProject, listProjects, type Project } from '../features/projects/index.ts';
import { listOrganizations } from '../features/team/index.ts';
import { createProjectIn, requireProjectSlot } from '../flows/create-project.ts';
import { resumeProject, suspendProject } from '../flows/suspend-project.ts';
import { requireOrganization } from '../flows/team/index.ts';
import type { Database } from '../io/db/index.ts';
import type { Opened, Operator } from './operator.ts';
import {
  JSON_OPTION,
  ORGANIZATION_OPTION,
  type OutputOptions,
  PROJECT_OPTION,
  runInRealTime,
} from './run.ts';
import { table } from './table.ts';

export function addProjectCommands(program: Command, operator: Operator): void {
  const project = program.command('project').description('make, list, suspend and resume projects');
  project
    .command('create')
    .description('make a project')
    .requiredOption('--name <name>', 'what people call it')
    .option(...ORGANIZATION_OPTION)
    .option(...JSON_OPTION)
    .action((options: { name: string; org?: string } & OutputOptions) =>
      runInRealTime(operator, options, {
        work: async ({ db, projectsMax: max }) => {
          const organizationId = await organizationOf(db, options.org);
          const { id, name } = await db.transaction(async (tx) => {
            if (organizationId !== null) await requireProjectSlot(tx, { organizationId, max });
            return createProjectIn({ tx, clock: db.clock }, { name: options.name, organizationId });
          });
          return { id: String(id), name };
        },
        show: ({ id, name }) => `Project ${name} has the id ${id}`,
      }),
    );
  project
    .command('list')
    .description('list all projects')
    .option(...JSON_OPTION)
    .action((options: OutputOptions) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => (await listProjects(db)).map(toShown),
        show: (rows) => table(rows, 'There is no project yet: project create --name makes one'),
      }),
    );
  addSwitch(project, operator, {
    name: 'suspend',
    description: 'refuse its API keys (403) until it is resumed',
    change: ({ db }, { id }) => suspendProject(db, id),
  });
  addSwitch(project, operator, {
    name: 'resume',
    description: 'accept its API keys again',
    change: ({ db }, { id }) => resumeProject(db, id),
  });
}

/** Before there is a team a project is nobody's, and joins the first organization. */
async function organizationOf(db: Database, wanted: string | undefined): Promise<string | null> {
  const isEarly = wanted === undefined && (await listOrganizations(db)).length === 0;
  return isEarly ? null : (await requireOrganization(db, wanted)).id;
}

type Switch = {
  name: string;
  description: string;
  change: (opened: Opened, project: Project) => Promise<Project>;
};

function addSwitch(parent: Command, operator: Operator, { name, description, change }: Switch): void {
  parent
    .command(name)
    .description(description)
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: { project: string } & OutputOptions) =>
      runInRealTime(operator, options, {
        work: async (opened) => toShown(await change(opened, await findProject(opened.db, options.project))),
        show: (shown) =>
          shown.suspended_at
            ? `Project ${shown.name} is suspended since ${shown.suspended_at.toISOString()}`
            : `Project ${shown.name} is not suspended`,
      }),
    );
}

function toShown(project: Project) {
  return {
    id: String(project.id),
    name: project.name,
    suspended_at: project.suspendedAt,
    created_at: project.createdAt,
  };
}
