import { type Command, Option } from 'commander';
import type { WebhookDelivery, WebhookDeliveryState } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { readDuration, when } from '../output/when.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';
import { readTime } from './track.ts';

const STATES: WebhookDeliveryState[] = [
  'pending',
  'delivering',
  'delivered',
  'exhausted',
  'missed',
  'cancelled',
];
const LIMIT_MAX = 200;

type DeliveriesOptions = { state?: WebhookDeliveryState; endpoint?: string; limit: string };
type ReplayOptions = { failed?: true; since?: string; endpoint?: string };

export function addWebhooks(program: Command, shell: Shell): void {
  const webhooks = program
    .command('webhooks')
    .description('what your endpoints were told (needs the role admin)');
  webhooks
    .command('deliveries')
    .description('the newest deliveries, and how they went')
    .addOption(new Option('--state <state>', 'those alone that are so').choices(STATES))
    .option('--endpoint <id>', 'to this endpoint alone')
    .option('--limit <count>', `at most ${LIMIT_MAX}`, '50')
    .action(action<DeliveriesOptions>(shell, deliveries));
  webhooks
    .command('replay')
    .description('send again: one message, or all that did not arrive since')
    .argument('[message]', 'msg_…')
    .option('--failed', 'those that were given up or missed; this is meant where nothing is said')
    .option('--since <time>', 'so long ago such as 1h, or since a moment such as 2026-01-31T14:30:00Z')
    .option('--endpoint <id>', 'to this endpoint alone')
    .action(action<ReplayOptions>(shell, replay));
}

async function deliveries({ inProject, output, options }: Running<DeliveriesOptions>): Promise<void> {
  const { state, endpoint, limit } = options;
  const most = /^[1-9]\d{0,2}$/.test(limit) ? Number(limit) : LIMIT_MAX + 1;
  if (most > LIMIT_MAX) throw usage(`--limit: ${limit} is no number from 1 to ${LIMIT_MAX}`, '--limit');
  const { dashboard, project } = await inProject();
  const { data } = await dashboard.call('GET /projects/:project/webhook-deliveries', {
    params: { project: project.id },
    query: {
      limit: most,
      ...(state === undefined ? {} : { state }),
      ...(endpoint === undefined ? {} : { endpoint }),
    },
  });
  await output.many(data, { row: toRow, none: 'No webhooks so far.' });
}

function toRow({ id, type, state, created_at, attempts }: WebhookDelivery) {
  const last = attempts.at(-1);
  return {
    message: id,
    type,
    state,
    made: when(created_at),
    attempts: attempts.length,
    answer: last === undefined ? null : (last.status ?? last.error),
    url: last?.url,
  };
}

async function replay(
  { inProject, output, options, shell }: Running<ReplayOptions>,
  message?: string,
): Promise<void> {
  const { since, endpoint, failed } = options;
  if ((message === undefined) === (since === undefined))
    throw usage('Say what is to be sent again: a message (msg_…), or --failed --since 1h');
  if (message !== undefined && failed)
    throw usage('--failed is for --since; a message is sent again however it went');
  const { dashboard, project } = await inProject();
  const { data } = await dashboard.call('POST /projects/:project/webhook-replays', {
    params: { project: project.id },
    body: {
      ...(message === undefined ? {} : { message }),
      ...(since === undefined
        ? {}
        : { since: readSince(since, shell.now()), states: ['exhausted', 'missed'] }),
      ...(endpoint === undefined ? {} : { endpoint }),
    },
  });
  await output.one(data, ({ replayed }) => `Deliveries that are sent again: ${replayed}`);
}

function readSince(text: string, now: number): string {
  const ms = readDuration(text);
  return ms === null ? readTime(text, '--since') : new Date(now - ms).toISOString();
}
