import { call, list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';
import { choice, required } from '../framework/options.ts';

const ORGANIZATION = 'POST /projects/:project/organization';

export const organizations: Noun = {
  name: 'organizations',
  help: 'List, create and change organizations',
  commands: [
    list('GET /organizations', 'list', {
      help: 'List your organizations',
      row: fields('id name role projects members requires_two_factor'),
      empty: 'No organizations yet. Create one: beckon organizations create <name>',
    }),
    call('POST /organizations', 'create <name>', {
      help: 'Create an organization beside the first one',
      args: { name: 'Name of the organization' },
      view: ({ id, name }) =>
        `Created organization ${name} (ID ${id}). Create a project in it: beckon projects create <name> --organization ${id}`,
    }),
    call(ORGANIZATION, 'rename <name>', {
      help: "Rename a project's organization",
      args: { name: 'New name of the organization' },
      view: ({ name }) => `The organization is now named ${name}.`,
    }),
    call(ORGANIZATION, 'set', {
      help: "Set whether members of a project's organization need two-factor authentication",
      options: {
        two_factor: required(
          choice('--two-factor <policy>', 'Two-factor authentication', ['required', 'optional']),
        ),
      },
      body: ({ two_factor }) => ({ requires_two_factor: two_factor === 'required' }),
      view: ({ name, requires_two_factor }) =>
        `Two-factor authentication is ${requires_two_factor ? 'required' : 'optional'} in ${name}.`,
    }),
  ],
};
