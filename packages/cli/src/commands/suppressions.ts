import {
  type CanReceiveResult,
  REMOVAL_REASONS,
  SUPPRESSION_REASONS,
  type SuppressionListed,
  type SuppressionRecipient,
} from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, custom, download, list, type Noun } from '../framework/declare.ts';
import { choice, flag, readInput, required, text, time } from '../framework/options.ts';
import { fields, tableOf } from '../output/auto.ts';
import type { View } from '../output/view.ts';
import { count, plain, type Words } from '../output/words.ts';
import { importList, LIST_ROUTES } from './suppression-import.ts';

const PLACE = {
  email: text('--email <address>', 'Email address'),
  user: text('--user <user>', 'User ID (external_user_id)'),
};
const CHECK = 'GET /projects/:project/suppressions/check';

export const suppressions: Noun = {
  name: 'suppressions',
  help: 'Manage the suppression list: addresses and users that get no email',
  commands: [
    list('GET /projects/:project/suppressions', 'list [filter...]', {
      help: 'List suppressed addresses and users',
      args: { filter: 'Filter terms such as email:*@example.com user:user_42 reason:hard_bounce erased:yes' },
      isPaged: true,
      row: [
        'kind',
        ['value', ({ value }) => value ?? 'erased user'],
        'reason',
        ['until', ({ in_force, until }, { when }) => (in_force ? (when(until) ?? 'removed') : 'ended')],
        ...fields('created_at by=created_by_name'),
      ],
      empty:
        'No suppressions yet. Bounces, complaints and unsubscribes appear here. ' +
        'Import a list: beckon suppressions import <file>',
    }),
    call('POST /projects/:project/suppressions', 'add', {
      help: 'Suppress an address or a user. Their drafts and runs are canceled.',
      options: {
        ...PLACE,
        reason: choice('--reason <reason>', 'Why (default: manual)', SUPPRESSION_REASONS),
        until: time('--until <time>', 'When it ends (default: never)', 'ahead'),
      },
      body: (input) => ({ ...input, ...recipientOf(input) }),
      view: ({ suppression, added, drafts, runs }) =>
        `${nameOf(suppression)} is suppressed${added ? '' : ', and already was for at least as long'}. ` +
        `${count(drafts, 'draft')} and ${count(runs, 'run')} canceled.`,
    }),
    call('POST /projects/:project/suppressions/remove', 'remove', {
      help: 'Remove an address or a user from the suppression list',
      options: {
        ...PLACE,
        reason: required(choice('--reason <reason>', 'Why, for the audit log', REMOVAL_REASONS)),
      },
      reads: [CHECK],
      find: async ({ api }, input) => (await api.call(CHECK, { query: recipientOf(input) })).data,
      confirm: (_input, { suppression }) =>
        suppression &&
        `${nameOf(suppression)} is suppressed: ${plain(suppression.reason)} by ${suppression.created_by_name} ` +
          `at ${suppression.created_at}, ${untilText(suppression.until)}. Send email to it again?`,
      body: (input, { value }) => ({ ...recipientOf(input), reason: input.reason, confirm: value }),
      view: ({ kind, value }) => `Removed the ${kind} ${value} from the suppression list.`,
    }),
    call(CHECK, 'check', {
      help: 'Check whether an email to an address or a user would be sent now, and why not',
      options: PLACE,
      query: recipientOf,
      view: checkView,
    }),
    custom('import <file>', {
      help: 'Import a suppression list from a CSV file. Drafts and runs of its users are canceled.',
      details:
        'Columns: email or user, reason, until, created_at; or one address per line without a header.\n' +
        'Lists of other senders and exports of Beckon are both accepted.',
      args: { file: 'Path of the file; - reads stdin' },
      options: {
        reason: choice(
          '--reason <reason>',
          'Reason of rows that name none (default: manual)',
          SUPPRESSION_REASONS,
        ),
        dry_run: flag('--dry-run', 'Change nothing, and show what the import would change'),
      },
      routes: LIST_ROUTES,
      run: async (context, { file, ...options }) =>
        importList(context, await readInput(file, context), options),
    }),
    download('GET /projects/:project/suppressions/export', 'export', {
      help: 'Export the suppression list. It can be imported again.',
      options: { format: choice('--format <format>', 'Format (default: csv)', ['csv', 'ndjson']) },
    }),
    list('GET /projects/:project/suppressions/topics', 'topics [filter...]', {
      help: 'List topics that users unsubscribed from',
      args: { filter: 'Filter terms such as topic:news user:user_42 since:>2026-01-01' },
      isPaged: true,
      row: ['topic', 'kind', ['value', ({ value }) => value ?? 'erased user'], 'since=created_at'],
      empty: 'No user unsubscribed from a topic yet. Set topics: beckon settings set topics=news:News',
    }),
  ],
};

function recipientOf({ email, user }: SuppressionRecipient): SuppressionRecipient {
  if (email !== undefined && user === undefined) return { email };
  if (user !== undefined && email === undefined) return { user };
  throw usage('Pass one of --email and --user', '--email');
}

function nameOf({ kind, value }: Pick<SuppressionListed, 'kind' | 'value'>): string {
  return value === null ? `The ${kind} of an erased user` : `The ${kind} ${value}`;
}

function untilText(until: string | null): string {
  return until === null ? 'until it is removed' : `until ${until}`;
}

function checkView(result: CanReceiveResult, words: Words): View {
  const { kind, value, can_receive, suppression, lifted, unsubscribed_topics: topics } = result;
  return [
    {
      [kind]: value,
      'can receive email now': can_receive ?? 'unknown: no user has it',
      suppressed: suppression
        ? `${plain(suppression.reason)} by ${suppression.created_by_name}, ${untilText(words.when(suppression.until))}`
        : 'no',
      'last removed':
        lifted && `${plain(lifted.reason)}, by ${lifted.lifted_by_name} ${words.when(lifted.lifted_at)}`,
      'refused topics': topics.join(', '),
    },
    ...result.users.flatMap(({ external_user_id: user, address, checks, unsubscribed_topics: refused }) => [
      tableOf(
        `${user} ${address === null ? '(no address)' : `<${address}>`}`,
        checks,
        fields('check passes reason=text until'),
      ),
      refused.length === 0 ? null : `Refused topics: ${refused.join(', ')}`,
    ]),
    result.truncated ? 'More users have this address.' : null,
  ];
}
