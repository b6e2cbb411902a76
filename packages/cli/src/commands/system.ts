import { call, download, list, type Noun } from '../framework/declare.ts';
import { fields, viewOf } from '../output/auto.ts';
import { removedText } from './users.ts';

export const system: Noun = {
  name: 'system',
  help: 'Show the state of the server',
  commands: [
    call('GET /projects/:project/system', 'show', {
      help: 'Show the server version, the queue, due work and storage',
      view: ({ storage, sending_enabled, ...state }) => [
        viewOf(state, fields('version node postgres schema clock_offset_ms queue webhooks jobs')),
        sending_enabled
          ? null
          : 'Sending is off: the database was restored or copied. Confirm it on its machine: beckon-server confirm-restore',
        storage && viewOf(storage),
      ],
    }),
    call('GET /projects/:project/data', 'retention', {
      help: 'Show how long data is kept, and the oldest data of each kind',
    }),
    list('GET /projects/:project/erasures', 'erasures', {
      help: 'List erasures of users: when, and what was removed. Erased users are not named.',
      isPaged: true,
      row: ['id', 'at', ['removed', ({ removed }) => removedText(removed)]],
      empty: 'No user was erased yet. Erase one: beckon users erase <user>',
    }),
    call('POST /projects/:project/test-email', 'send-test', {
      help: 'Send a test email from the server to yourself',
      view: ({ to, test_inbox: isTestInbox }) =>
        isTestInbox
          ? `Sent a test email to ${to}. It is in the test inbox, because SMTP_URL is not set.`
          : `Sent a test email to ${to}.`,
    }),
    download('GET /projects/:project/support-bundle', 'support-bundle', {
      help: 'Write a support bundle as JSON: numbers, states and settings, without secrets or personal data',
    }),
  ],
};
