import type { TestInboxEmailWhole } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, custom, list, type Noun } from '../framework/declare.ts';
import { downloadTo } from '../framework/download.ts';
import { flag, text, whole } from '../framework/options.ts';
import type { View } from '../output/view.ts';
import { count, plain, type Words } from '../output/words.ts';
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
      row: ({ id, to, subject, external_user_id, kind, copy, copies, at }, { when }) => ({
        id,
        to,
        subject,
        user: kind === 'team' ? 'to the team' : external_user_id,
        copy: copies === 1 ? null : `${copy} of ${copies}`,
        received: when(at),
      }),
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

function emailView(email: TestInboxEmailWhole, { when }: Words): View {
  const { copy, copies, size } = email;
  return [
    {
      id: email.id,
      subject: email.subject,
      from: email.from,
      'return path': email.mail_from,
      to: email.to,
      user: email.external_user_id,
      draft: email.draft_id,
      received: when(email.at),
      size: `${size.toLocaleString('en-US')} bytes`,
      copy: copies === 1 ? null : `${copy} of ${copies}. An email arrives once; please report this bug.`,
    },
    Object.fromEntries(
      email.checks.map(({ name, status, message, detail }) => [
        `check ${plain(name)}`,
        [`${status}: ${message}`, ...detail],
      ]),
    ),
    email.text.trimEnd(),
  ];
}
