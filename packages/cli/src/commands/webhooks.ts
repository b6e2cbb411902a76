import type { WebhookAttempt, WebhookEndpoint } from '@beckon/contract/dashboard';
import { WEBHOOK_TYPES } from '@beckon/contract';
import { EXIT } from '../failure.ts';
import { call, list, lookUp, type Noun } from '../framework/declare.ts';
import { choice, choices, duration, flag, text, time, whole } from '../framework/options.ts';
import { fields, type Column, viewOf } from '../output/auto.ts';
import type { View } from '../output/view.ts';
import { count } from '../output/words.ts';

const ENDPOINT = 'GET /projects/:project/webhooks/:endpoint';
const STATES = ['pending', 'delivering', 'delivered', 'exhausted', 'missed', 'canceled'] as const;
const REPLAYABLE = ['exhausted', 'missed', 'delivered'] as const;

const SETTINGS = {
  types: text(
    '--types <types>',
    `Event types, separated by commas, or all: ${WEBHOOK_TYPES.join(', ')}`,
    (value) => (value === 'all' ? null : value.split(',').map((type) => type.trim())),
  ),
  description: text('--description <text>', 'Purpose of the endpoint'),
  per_second: whole('--rate <count>', 'Maximum requests per second (default: 50)', [1, 1_000]),
  in_flight_max: whole('--in-flight <count>', 'Maximum concurrent requests (default: 10)', [1, 1_000]),
};

const DISABLED_REASONS = {
  manual: 'by a member',
  gone: 'it answered 410 Gone',
  failing: 'it failed for too long',
  deleted: 'deleted',
};

const TYPES: Column<WebhookEndpoint> = ['types', ({ types }) => types?.join(', ') ?? 'all'];
const STATE: Column<WebhookEndpoint> = [
  'state',
  ({ state, disabled_reason: why }) => (why === null ? state : `${state} (${DISABLED_REASONS[why]})`),
];

export const webhooks: Noun = {
  name: 'webhooks',
  help: 'Manage webhook endpoints and their deliveries',
  commands: [
    list('GET /projects/:project/webhooks', 'list [filter...]', {
      help: 'List webhook endpoints and their health',
      args: { filter: 'Filter terms such as state:disabled failing:yes type:email.opened' },
      isPaged: true,
      row: ['id', 'url', TYPES, STATE, 'failing_since', 'last_success_at', 'description'],
      empty:
        'No webhook endpoints yet. Add one to receive opens, clicks, replies, bounces and unsubscribes: ' +
        'beckon webhooks create <url>',
    }),
    call(ENDPOINT, 'show <endpoint>', { help: 'Show a webhook endpoint', view: endpointView }),
    call('POST /projects/:project/webhooks', 'create <url>', {
      help: 'Create a webhook endpoint and print its signing secret once',
      args: { url: 'Address that receives the events, such as https://example.com/webhooks' },
      options: SETTINGS,
      view: ({ id, secret }) => [
        `Created webhook endpoint ${id}. Its signing secret is shown once:`,
        secret,
        `Send it a test event: beckon webhooks test ${id}`,
      ],
    }),
    call('PATCH /projects/:project/webhooks/:endpoint', 'update <endpoint>', {
      help: 'Update a webhook endpoint. Pending deliveries go to the new address.',
      options: { url: text('--to <url>', 'New address'), ...SETTINGS },
      needsOption: true,
      view: endpointView,
    }),
    call('POST /projects/:project/webhooks/:endpoint/enable', 'enable <endpoint>', {
      help: 'Enable a webhook endpoint',
      view: ({ url }) =>
        `Enabled ${url}. Missed events are not resent; send them with: beckon webhooks replay --missed`,
    }),
    call('POST /projects/:project/webhooks/:endpoint/disable', 'disable <endpoint>', {
      help: 'Disable a webhook endpoint. Events are marked as missed until it is enabled.',
      view: ({ url, missed }) =>
        `Disabled ${url}. ${count(missed, 'pending delivery', 'pending deliveries')} missed.`,
    }),
    call('DELETE /projects/:project/webhooks/:endpoint', 'delete <endpoint>', {
      help: 'Delete a webhook endpoint with its secrets, and cancel its pending deliveries',
      ...lookUp(ENDPOINT),
      confirm: (_input, { url }) => `Delete the webhook endpoint ${url}?`,
      body: (_input, { url }) => ({ url }),
      view: ({ canceled }, _words, { found }) =>
        `Deleted ${found.url}. ${count(canceled, 'pending delivery', 'pending deliveries')} canceled.`,
    }),
    call('POST /projects/:project/webhooks/:endpoint/rotate', 'rotate <endpoint>', {
      help: 'Create a new signing secret and print it once',
      options: {
        overlap_hours: duration(
          '--overlap <duration>',
          'How long the old secret also signs, at most 7d (default: 24h)',
          'h',
        ),
      },
      confirm: ({ overlap_hours }) =>
        overlap_hours === 0 ? 'The old signing secret ends immediately. Create a new one?' : null,
      view: ({ secret }) => ['The new signing secret is shown once:', secret],
    }),
    call('POST /projects/:project/webhooks/:endpoint/test', 'test <endpoint>', {
      help: 'Send a test event to a webhook endpoint and show the response',
      view: fields('id endpoint_id type state attempts'),
      exit: ({ state }) => (state === 'delivered' ? EXIT.ok : EXIT.failed),
    }),
    list('GET /projects/:project/webhook-deliveries', 'deliveries', {
      help: 'List webhook deliveries of the last 30 days, newest first',
      isPaged: true,
      options: {
        endpoint: text('--endpoint <endpoint>', 'Only deliveries to this endpoint'),
        message: text('--message <message>', 'Only this message (msg_…)'),
        state: choice('--state <state>', 'Only deliveries in this state', STATES),
      },
      row: [
        ...fields('message=id endpoint=endpoint_id type state'),
        ['attempts', ({ attempts }) => attempts.length],
        ['last result', ({ attempts }) => resultOf(attempts.at(-1))],
        ...fields('created_at next_attempt_at'),
      ],
      empty:
        'No webhook deliveries yet. Events of emails appear here once an endpoint exists: beckon webhooks list',
    }),
    call('GET /projects/:project/webhook-deliveries/:message/:endpoint', 'delivery <message> <endpoint>', {
      help: 'Show a webhook delivery with its body and every attempt',
      args: { message: 'Message ID (msg_…)' },
      view: fields('id endpoint_id type state erased created_at delivered_at next_attempt_at attempts body'),
    }),
    call('POST /projects/:project/webhook-replays', 'replay [message]', {
      help: 'Send webhook deliveries again, with the same IDs and bodies',
      details: 'Choose what to send: one message, --since <time>, or --missed.',
      args: { message: 'Message ID (msg_…); with --endpoint, only to that endpoint' },
      options: {
        endpoint: text('--endpoint <endpoint>', 'Only to this endpoint'),
        since: time('--since <time>', 'Events since this time, such as 7d', 'back'),
        until: time('--until <time>', 'Events until this time', 'back'),
        missed: flag('--missed', 'Everything missed while an endpoint was disabled'),
        states: choices('--states <states>', 'Only deliveries in these states', REPLAYABLE),
        history: flag('--history', 'Also events from before the endpoint was created'),
      },
      view: ({ replayed }) => `${count(replayed, 'delivery', 'deliveries')} will be sent again.`,
    }),
  ],
};

function endpointView(endpoint: WebhookEndpoint): View {
  return viewOf({ ...endpoint, types: endpoint.types ?? 'all' });
}

function resultOf(attempt: WebhookAttempt | undefined): string | null {
  if (!attempt) return null;
  return [attempt.status, attempt.error].filter((part) => part !== null).join(' ') || 'in progress';
}
