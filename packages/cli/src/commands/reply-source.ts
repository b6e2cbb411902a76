import type { ReplySource, ReplySourceKindInfo, ReplySourceSetup } from '@beckon/contract/dashboard';
import { EXIT, usage } from '../failure.ts';
import { call, custom } from '../framework/declare.ts';
import { jsonFile, repeatable } from '../framework/options.ts';
import type { View } from '../output/view.ts';
import type { Words } from '../output/words.ts';
import { readValues } from './connection-values.ts';

const SETUP = 'GET /projects/:project/reply-source';
const SET = 'PUT /projects/:project/reply-source';
const TEST = 'POST /projects/:project/reply-source/test';
const REMOVE = 'DELETE /projects/:project/reply-source';

/** Where the project receives replies without port 25. */
export const replySourceCommands = [
  custom('source', {
    help: 'Show where replies are received without port 25',
    details: 'The URL of a webhook contains a secret.',
    routes: [SETUP],
    async run({ api, output }) {
      const { data } = await api.call(SETUP, {});
      await output.value(data, sourceView);
    },
  }),
  custom('set-source <kind>', {
    help: 'Set where replies are received: a mailbox, or a service that posts emails',
    details: 'The kinds are imap, postmark, http and forwarding. Secrets that are left out stay as they are.',
    args: { kind: 'Kind of reply source' },
    options: {
      set: repeatable('--set <field=value>', 'A setting that is not secret, such as host=imap.example.com'),
      secrets: jsonFile(
        '--secrets-file <file>',
        'JSON object with the secret fields; - reads stdin. On a terminal they are prompted for.',
      ),
    },
    routes: [SETUP, SET],
    async run(context, { kind, set, secrets }) {
      const setup = (await context.api.call(SETUP, {})).data;
      const info = findKind(setup, kind);
      const existing = setup.source?.kind === kind ? setup.source.settings : undefined;
      const isRotation = existing === undefined ? {} : { isRotation: true as const };
      const typed = await readValues(context, info, { set, secrets, ...isRotation });
      const { data } = await context.api.call(SET, { body: { kind, settings: { ...existing, ...typed } } });
      await context.output.value(data, sourceView);
    },
  }),
  custom('test-source', {
    help: 'Sign in to the mailbox of the reply source without reading an email',
    routes: [TEST],
    async run({ api, output }) {
      const { data } = await api.call(TEST, {});
      await output.value(data, ({ ok, message }) => `${ok ? 'Succeeded' : 'Failed'}: ${message}`);
      return data.ok ? EXIT.ok : EXIT.failed;
    },
  }),
  call(REMOVE, 'delete-source', {
    help: 'Delete the reply source. The mailbox stays as it is.',
    confirm: () => 'Delete the reply source and its credentials?',
    view: () => 'Deleted the reply source.',
  }),
];

function findKind({ kinds }: ReplySourceSetup, kind: string): ReplySourceKindInfo {
  const found = kinds.find((info) => info.kind === kind);
  if (found) return found;
  throw usage(`Unknown kind ${kind}. Use one of ${kinds.map((info) => info.kind).join(', ')}`, 'kind');
}

function sourceView({ source }: ReplySourceSetup, words: Words): View {
  if (source === null)
    return 'No reply source yet. Add a mailbox: beckon replies set-source imap --set host=imap.example.com --set username=replies@example.com';
  return [
    {
      kind: source.title,
      state:
        source.failure === null ? (source.read_at === null ? 'nothing received yet' : 'working') : 'failing',
      failure: source.failure,
      'last read': source.read_at === null ? 'never' : words.when(source.read_at),
      webhook: source.webhook_url,
      'forward to': source.forward_to,
    },
    { Settings: Object.entries(source.settings).map(([field, value]) => `${field}: ${value}`) },
    { Emails: source.counts.map(countText) },
  ];
}

function countText({ result, emails }: ReplySource['counts'][number]): string {
  return `${result.replaceAll('_', ' ')}: ${emails}`;
}
