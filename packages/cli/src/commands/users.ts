import type { UserInput } from '@beckon/contract';
import type { RunOfUser, TimelineItem, UserHeld } from '@beckon/contract/dashboard';
import { call, custom, download, list, type Noun } from '../framework/declare.ts';
import { text } from '../framework/options.ts';
import { merged, objectFile, properties } from '../framework/properties.ts';
import { importCommand } from '../import/command.ts';
import { type Column, rowOf } from '../output/auto.ts';
import { plain, type Words } from '../output/words.ts';

const TIMELINE = 'GET /projects/:project/users/:user/timeline';
const TIMELINE_SHOWN = 50;
const RUN: Column<RunOfUser>[] = [
  'rule',
  'version',
  'state',
  'end_reason',
  'waits_for',
  'next_at',
  'entered_at',
];
const TIMELINE_ITEM: Column<TimelineItem>[] = ['at', 'kind', 'title', 'actor'];

export const users: Noun = {
  name: 'users',
  help: 'Send, import, find, export and erase users',
  commands: [
    list('GET /projects/:project/users', 'list [filter...]', {
      help: 'List users',
      args: { filter: 'Filter terms such as plan:trial email:ada* seen:>2026-01-01 -audience:paying' },
      isPaged: true,
      csv: 'GET /projects/:project/users.csv',
      row: [
        'external_user_id',
        'email',
        'name',
        'plan',
        'last_seen_at',
        'first_seen_at',
        'triggers_suppressed',
      ],
      empty: 'No users yet. Send one: beckon users upsert <user> --email <address>',
    }),
    call('GET /projects/:project/users/:user', 'show <user>', {
      help: 'Show a user: traits, audiences, runs, suppression and the latest timeline entries',
      reads: [TIMELINE],
      find: async ({ api }, params) =>
        (await api.call(TIMELINE, { params, query: { limit: TIMELINE_SHOWN } })).data,
      view: (user, words, { found }) => [
        {
          user: user.external_user_id,
          email: user.email ?? 'none',
          'time zone': user.zone ?? "the project's",
          'first seen': words.when(user.first_seen_at),
          'last seen': words.when(user.last_seen_at),
          'can receive email': heldText(user.held, words),
          'refused topics': user.refused_topics.join(', '),
          triggers: user.triggers.suppressed ? 'suppressed until the next normal event' : null,
          audiences: user.audiences.map(({ name }) => name).join(', ') || 'none',
        },
        {
          title: 'Traits',
          rows: user.traits.map(({ trait, value }) => ({ trait, value: JSON.stringify(value) })),
        },
        { title: 'Runs', rows: user.runs.map((run) => rowOf(run, RUN, words)) },
        { title: 'Timeline', rows: found.map((item) => rowOf(item, TIMELINE_ITEM, words)) },
      ],
    }),
    custom('upsert <user>', {
      help: 'Create a user, or update their email address and traits',
      options: {
        email: text('--email <address>', 'Email address'),
        traits: properties('-t, --trait <key=value>', 'A trait; numbers and other JSON keep their type'),
        data: objectFile('--data <file>', 'JSON object of traits; - reads stdin'),
      },
      async run(context, { user: id, email, traits: own, data }) {
        const traits = merged(data, own);
        const user: UserInput = {
          external_user_id: id,
          ...(email === undefined ? {} : { email }),
          ...(Object.keys(traits).length === 0 ? {} : { traits }),
        };
        await (await context.client()).users.upsert(user, { signal: context.signal });
        await context.output.value({ accepted: true, user }, () => `Accepted user ${id}.`);
      },
    }),
    importCommand('users'),
    download('GET /projects/:project/users/:user/export', 'export <user>', {
      help: 'Export everything stored about a user as JSON',
    }),
    call('POST /projects/:project/users/:user/erase', 'erase <user>', {
      help: 'Erase a user for good',
      details:
        'Removes everything stored about the user, and their records that wait for processing.\n' +
        'A suppression of their address and the topics it refused stay as keyed hashes.',
      confirm: ({ user }) => `Erase everything stored about ${user}? This cannot be undone.`,
      body: ({ user }) => ({ confirm: user }),
      view: ({ external_user_id, removed }) => [
        `Erased ${external_user_id}. Records that wait for processing are dropped when they are processed.`,
        {
          rows: Object.entries(removed)
            .filter(([, rows]) => rows > 0)
            .map(([table, rows]) => ({ removed: plain(table), rows })),
          empty: 'No stored data.',
        },
      ],
    }),
  ],
};

function heldText(held: UserHeld | null, { when }: Words): string {
  if (held === null) return 'yes';
  const until = held.until === null ? '' : ` until ${when(held.until)}`;
  const whom = held.kind === 'address' ? 'address suppressed' : 'user suppressed';
  return `no: ${whom} (${plain(held.reason)})${until}${held.from_erased ? ', from an erased user' : ''}`;
}
