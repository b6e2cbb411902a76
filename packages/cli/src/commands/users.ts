import type { UserInput } from '@beckon/contract';
import { call, custom, download, list, type Noun } from '../framework/declare.ts';
import { jsonFile, required, text, time } from '../framework/options.ts';
import { properties } from '../framework/properties.ts';
import { fields, tableOf, viewOf } from '../output/auto.ts';
import { plain } from '../output/words.ts';

const TIMELINE = 'GET /projects/:project/users/:user/timeline';
const TIMELINE_SHOWN = 50;

export const users: Noun = {
  name: 'users',
  help: 'Send, find, export and erase users',
  commands: [
    list('GET /projects/:project/users', 'list [filter...]', {
      help: 'List users',
      args: { filter: 'Filter terms such as plan:trial email:ada* seen:>2026-01-01 -audience:paying' },
      isPaged: true,
      csv: 'GET /projects/:project/users.csv',
      row: fields('external_user_id email name plan last_seen_at first_seen_at triggers_suppressed'),
      empty: 'No users yet. Send one: beckon users upsert <user> --email <address>',
    }),
    call('GET /projects/:project/users/:user', 'show <user>', {
      help: 'Show a user: traits, audiences, runs, suppression and the latest timeline entries',
      reads: [TIMELINE],
      find: async ({ api }, params) =>
        (await api.call(TIMELINE, { params, query: { limit: TIMELINE_SHOWN } })).data,
      value: (user, timeline) => ({ ...user, timeline }),
      view: (user, _words, { found }) => [
        viewOf({ ...user, suppression: user.suppression ?? 'none: can receive email' }),
        tableOf('Timeline', found, fields('at kind title')),
      ],
    }),
    call('GET /projects/:project/users/:user/at', 'history <user>', {
      help: 'Show a user as they were at a time, and how certain each value is',
      options: {
        at: required(time('--at <time>', 'Such as 2026-01-31T14:30:00Z, or 7d for seven days ago', 'back')),
      },
    }),
    custom('upsert <user>', {
      help: 'Create a user, or update their email address and traits',
      options: {
        email: text('--email <address>', 'Email address'),
        traits: properties('-t, --trait <key=value>', 'A trait; numbers and other JSON keep their type'),
        data: jsonFile('--data <file>', 'JSON object of traits; - reads stdin'),
      },
      async run(context, { user: id, traits: overrides, data, ...more }) {
        const traits = { ...data, ...overrides };
        const user: UserInput = {
          external_user_id: id,
          ...more,
          ...(Object.keys(traits).length === 0 ? {} : { traits }),
        };
        await (await context.client()).users.upsert(user, { signal: context.signal });
        await context.output.value({ accepted: true, user }, () => `Accepted user ${id}.`);
      },
    }),
    download('GET /projects/:project/users/:user/export', 'export <user>', {
      help: 'Export everything stored about a user as JSON',
    }),
    call('POST /projects/:project/users/:user/erase', 'erase <user>', {
      help: 'Erase a user permanently',
      details:
        'Removes everything stored about the user, and their records that wait for processing.\n' +
        'A suppression of their address and the topics it refused stay as keyed hashes.',
      confirm: ({ user }) => `Erase everything stored about ${user}? This cannot be undone.`,
      body: ({ user }) => ({ confirm: user }),
      view: ({ external_user_id, removed }) => [
        `Erased ${external_user_id}. Records that wait for processing are dropped when they are processed.`,
        `Removed: ${removedText(removed) || 'nothing'}`,
      ],
    }),
  ],
};

export function removedText(removed: Record<string, number>): string {
  const tables = Object.entries(removed).filter(([, rows]) => rows > 0);
  return tables.map(([table, rows]) => `${plain(table)} ${rows}`).join(', ');
}
