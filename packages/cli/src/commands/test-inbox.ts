import type { TestInboxEmail, TestInboxEmailWhole } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, custom, list, type Noun } from '../framework/declare.ts';
import { downloadTo } from '../framework/download.ts';
import { flag, text, whole } from '../framework/options.ts';
import { fields, viewOf } from '../output/auto.ts';
import type { View } from '../output/view.ts';
import { count, plain } from '../output/words.ts';
import { currentProject } from './current-project.ts';

const EMAIL = 'GET /projects/:project/test-inbox/:email';
const RAW = 'GET /projects/:project/test-inbox/:email/eml';

export const testInbox: Noun = {
  name: 'test-inbox',
  help: 'Read emails that the server keeps while no SMTP relay is set',
  commands: [
    list('GET /projects/:project/test-inbox', 'list', {
      help: 'List emails in the test inbox, newest first',
      isPaged: true,
      options: {
        user: text('--user <user>', 'Only emails to this user'),
        draft: text('--draft <draft>', 'Only the email of this draft'),
      },
      row: [
        ...fields('id to subject'),
        ['user', ({ kind, external_user_id }) => (kind === 'team' ? 'to the team' : external_user_id)],
        ['copy', copyOf],
        'received=at',
      ],
      empty:
        'No emails in the test inbox. They appear here while SMTP_URL is not set; otherwise they go to that relay.\n' +
        'Show drafts that wait: beckon drafts list. Send one now: beckon drafts approve <draft>',
    }),
    custom('show <email>', {
      help: 'Show an email in the test inbox, with its checks',
      args: { email: 'Email ID' },
      options: {
        copy: whole('--copy <number>', 'Copy to show, if the email arrived more than once', [1, 1_000_000]),
        text: flag('--text', 'Print only the plain text'),
        html: flag('--html', 'Print only the HTML'),
        raw: flag('--raw', 'Print the raw email (.eml)'),
      },
      routes: [EMAIL, RAW],
      async run(context, { email: mail, copy, text: isText, html: isHtml, raw }) {
        if ([isText, isHtml, raw].filter(Boolean).length > 1)
          throw usage('Choose one of --text, --html and --raw', '--raw');
        const request = { params: { email: mail }, query: copy === undefined ? {} : { copy } };
        if (raw) return downloadTo(context, await context.api.open(RAW, request));
        const { data } = await context.api.call(EMAIL, request);
        const part = isText ? data.text : isHtml ? data.html_source : null;
        if (part === null || context.output.isJson) return context.output.value(data, emailView);
        await context.output.raw(part.endsWith('\n') ? part : `${part}\n`);
      },
    }),
    call('POST /projects/:project/test-inbox/clear', 'clear', {
      help: 'Delete the emails in the test inbox. Drafts and the history of users stay.',
      options: { older: text('--older <duration>', 'Only emails older than this, such as 7d') },
      reads: ['GET /projects'],
      find: async (context) => (await currentProject(context)).current.name,
      confirm: ({ older }, name) =>
        `Delete ${older === undefined ? 'all emails' : `emails older than ${older}`} in the test inbox of ${name}?`,
      body: ({ older }, confirm) => ({ confirm, ...(older === undefined ? {} : { older }) }),
      view: ({ cleared }) => `Deleted ${count(cleared, 'email')}.`,
    }),
  ],
};

function copyOf({ copy, copies }: TestInboxEmail): string | null {
  return copies === 1 ? null : `${copy} of ${copies}`;
}

function emailView(email: TestInboxEmailWhole): View {
  const { checks, text: content, ...details } = email;
  return [
    viewOf(
      { ...details, copy: copyOf(email) },
      fields(
        'id subject from return_path=mail_from to external_user_id draft_id received=at size_in_bytes=size copy',
      ),
    ),
    Object.fromEntries(
      checks.map(({ name, status, message, detail }) => [
        `check ${plain(name)}`,
        [`${status}: ${message}`, ...detail],
      ]),
    ),
    content.trimEnd(),
  ];
}
