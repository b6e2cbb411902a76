import { call, list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';

const SCREEN = { screen: 'users' } as const;

export const views: Noun = {
  name: 'views',
  help: 'List, create and delete saved views of users',
  commands: [
    list('GET /projects/:project/views', 'list', {
      help: 'List saved views: named filters of users, shared by the project',
      query: () => SCREEN,
      row: fields('id name filter created_by created_at'),
      empty: 'No saved views yet. Create one: beckon views create <name> <filter>',
    }),
    call('POST /projects/:project/views', 'create <name> [filter...]', {
      help: 'Create a saved view',
      args: { name: 'Name of the view', filter: 'Filter terms of users list, such as plan:trial' },
      body: ({ name, filter }) => ({ ...SCREEN, name, filter: filter.join(' ') }),
      view: ({ id, name }) => `Saved view ${name} (ID ${id}).`,
    }),
    call('DELETE /projects/:project/views/:view', 'delete <view>', {
      help: 'Delete a saved view',
      args: { view: 'View ID' },
      confirm: ({ view }) => `Delete the saved view ${view}? All members of the project lose it.`,
      view: ({ name }) => `Deleted view ${name}.`,
    }),
  ],
};
