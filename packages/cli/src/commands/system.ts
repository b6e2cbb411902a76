import { call, download, list, type Noun } from '../framework/declare.ts';
import { span } from '../output/span.ts';
import { plain } from '../output/words.ts';

/** What runs again and again for a project. */
const WORK: Record<string, string> = {
  digest: 'process records',
  send: 'send emails',
  tell: 'deliver webhooks',
};

export const system: Noun = {
  name: 'system',
  help: 'Show the state of the server',
  commands: [
    call('GET /projects/:project/system', 'show', {
      help: 'Show the server version, the queue, due work and storage',
      view: ({ queue, webhooks, jobs, storage, ...state }, { when }) => [
        {
          version: state.version,
          'Node.js': state.node,
          PostgreSQL: state.postgres,
          schema: state.schema,
          'clock offset': state.clock_offset_ms === null ? 'not measured yet' : `${state.clock_offset_ms} ms`,
          sending: state.sending_enabled
            ? null
            : 'off: the database was restored or copied. Confirm it on its machine: beckon-server confirm-restore',
          'waiting records': `${queue.live} live, ${queue.bulk} bulk, of at most ${queue.max.toLocaleString('en-US')}`,
          'oldest wait': queue.live + queue.bulk === 0 ? null : span(queue.oldest_ms),
          'dead-lettered records': queue.dead_letters,
          'webhook deliveries': `${webhooks.pending} pending, ${webhooks.delivering} in progress`,
          'database size': storage && bytesText(storage.database_bytes),
        },
        {
          title: 'Due work',
          rows: jobs.map(({ name, next_at, late_ms }) => ({
            work: WORK[name] ?? plain(name),
            next: when(next_at),
            late: late_ms === 0 ? null : span(late_ms),
          })),
        },
        {
          title: 'Largest tables',
          rows: (storage?.tables ?? []).map(({ name, bytes, rows }) => ({
            table: name,
            size: bytesText(bytes),
            'rows (estimate)': rows,
          })),
        },
      ],
    }),
    call('GET /projects/:project/data', 'retention', {
      help: 'Show how long data is kept, and the oldest data of each kind',
      view: ({ retention, erasures_waiting }, { when }) => [
        {
          rows: retention.map(({ setting, keeps, oldest_at }) => ({
            setting,
            keeps,
            oldest: when(oldest_at),
          })),
        },
        { 'erasures in progress': erasures_waiting },
      ],
    }),
    list('GET /projects/:project/erasures', 'erasures', {
      help: 'List erasures of users: when, and what was removed. Erased users are not named.',
      isPaged: true,
      row: ({ id, at, removed }, { when }) => ({
        id,
        time: when(at),
        removed: Object.entries(removed)
          .filter(([, rows]) => rows > 0)
          .map(([table, rows]) => `${plain(table)} ${rows}`)
          .join(', '),
      }),
      empty: 'No user was erased yet. Erase one: beckon users erase <user>',
    }),
    call('POST /projects/:project/test-email', 'send-test', {
      help: 'Send a test email from the server to yourself',
      view: ({ to, test_inbox: outbox }) =>
        outbox
          ? `Sent a test email to ${to}. It is in the test inbox, because SMTP_URL is not set.`
          : `Sent a test email to ${to}.`,
    }),
    download('GET /projects/:project/support-bundle', 'support-bundle', {
      help: 'Write a support bundle as JSON: numbers, states and settings, without secrets and personal data',
    }),
  ],
};

function bytesText(bytes: number): string {
  const mib = bytes / 1024 / 1024;
  return mib < 1024 ? `${mib.toFixed(1)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}
