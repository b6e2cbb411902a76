import type { ProjectListed } from '@beckon/contract/dashboard';
import { call, custom, list, type Noun } from '../framework/declare.ts';
import { text } from '../framework/options.ts';
import { type Column, fields, rowOf } from '../output/auto.ts';
import { span } from '../output/words.ts';
import { currentProject } from './current-project.ts';

const PROJECT: Column<ProjectListed>[] = [
  ...fields('id name'),
  ['kind', kindOf],
  ['state', stateOf],
  ...fields('role time_zone'),
];
const CLOCK: Column<ProjectListed> = [
  'test clock',
  ({ ahead_ms: ahead }) => (ahead === 0 ? null : `${span(ahead)} ahead`),
];

export const projects: Noun = {
  name: 'projects',
  help: 'Create, list and suspend projects',
  commands: [
    list('GET /projects', 'list', {
      help: 'List the projects that you can open',
      row: PROJECT,
      empty: 'No projects yet. Create one: beckon projects create <name>',
    }),
    custom('show', {
      help: 'Show the project that commands use',
      routes: ['GET /projects'],
      async run(context) {
        const { current } = await currentProject(context);
        await context.output.value(current, (project, words) => rowOf(project, [...PROJECT, CLOCK], words));
      },
    }),
    call('POST /projects', 'create <name>', {
      help: 'Create a project',
      args: { name: 'Name of the project' },
      options: {
        time_zone: text('--time-zone <zone>', 'Time zone of the project, such as Europe/Berlin'),
        organization: text('--organization <id>', 'Organization ID, if you are an admin in several'),
      },
      view: ({ id, name }) =>
        `Created project ${name} (ID ${id}). Create a key: beckon keys create --name <label> --project ${id}`,
    }),
    call('POST /projects/:project/suspend', 'suspend', {
      help: 'Suspend a project: its API keys are rejected, and no email is sent',
      reads: ['GET /projects'],
      find: async (context) => (await currentProject(context)).current,
      confirm: (_input, { name }) =>
        `Suspend the project ${name}? Its API keys are rejected until it is unsuspended.`,
      view: ({ name }) => `Suspended project ${name}. Undo: beckon projects unsuspend`,
    }),
    call('POST /projects/:project/unsuspend', 'unsuspend', {
      help: 'Unsuspend a project, so that its API keys are accepted again',
      view: ({ name }) => `Project ${name} is no longer suspended.`,
    }),
  ],
};

function kindOf({ demo, sandbox_of, livemode }: ProjectListed): string {
  if (demo) return 'demo';
  return sandbox_of === null && livemode ? 'live' : `sandbox of ${sandbox_of}`;
}

function stateOf({ suspended, paused }: ProjectListed): string {
  if (suspended) return 'suspended';
  return paused ? 'sending paused' : 'active';
}
