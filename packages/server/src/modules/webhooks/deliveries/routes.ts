import {
  FILTER_KEYS,
  type ListResponse,
  REPLAYABLE_STATES,
  type WebhookDelivery,
} from '@beckon/contract/dashboard';
import { readFilter } from '../../../platform/filter/parse.ts';
import { Fault } from '../../../platform/fault.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import { requireEndpoint } from '../endpoints/require-endpoint.ts';
import { countDeliveries, findBody, listDeliveries } from './reads.ts';
import { type DeliveryState, readWebhookName } from './webhook.ts';
import { testEndpoint } from '../dispatch/test-endpoint.ts';
import { replayWebhooks, type ReplayInput } from './replay.ts';
import { showEndpoint, deliveryView } from './views.ts';
import {
  badCursor,
  type CsvColumns,
  isId,
  type ListQuery,
  readPage,
  sendCsv,
  toPage,
  type RouteRequest,
  routesFor,
  type KitDeps,
  zoneOfProject,
} from '../../workspace/index.ts';
import type { WebhookSettings } from '../endpoints/endpoint.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

type Deps = KitDeps & { openOutbound: () => Outbound; encrypter: Encrypter; webhooks: WebhookSettings };
const { route } = routesFor<Deps>();

const REPLAYED_BY_DEFAULT: DeliveryState[] = ['exhausted', 'missed'];

export const webhookDeliveryRoutes = [
  route('POST /projects/:project/webhooks/:endpoint/test', {
    needs: 'admin',
    audit: 'webhook.send_test',
    async handle(deps, { projectId, params: { endpoint: endpointId }, note }) {
      const key = { projectId, endpointId };
      const webhookId = await test(deps, key);
      const data = await findDelivery(deps, { ...key, webhookId });
      note({
        subject: (await showEndpoint(deps.db, key)).url,
        after: { message: data.id, state: data.state },
      });
      return { data };
    },
  }),
  route('GET /projects/:project/webhook-deliveries', {
    needs: 'admin',
    scope: 'read',
    handle: ({ db }, { projectId, query }) => deliveryPage(db, { projectId, ...query }),
  }),
  route('GET /projects/:project/webhook-deliveries.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'webhook_deliveries.export',
    handle: ({ db }, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'webhook-deliveries.csv',
        columns: CSV_COLUMNS,
        load: (page) => deliveryPage(db, { projectId, ...query, ...page }),
      }),
  }),
  route('GET /projects/:project/webhook-deliveries/:message/:endpoint', {
    needs: 'admin',
    scope: 'read',
    async handle(deps, { projectId, params }) {
      const key = { projectId, webhookId: readWebhookName(params.message), endpointId: params.endpoint };
      const delivery = await findDelivery(deps, key);
      return { data: { ...delivery, body: await findBody(deps.db, key) } };
    },
  }),
  route('POST /projects/:project/webhook-replays', {
    needs: 'admin',
    scope: 'review',
    isHeavy: true,
    audit: 'webhook.replay',
    async handle({ db }, { projectId, body, note }) {
      const input = replayInput(projectId, body);
      const { replayed } = await replayWebhooks(db, input);
      note({ subject: body.message ?? body.endpoint ?? 'all', after: { ...body, replayed } });
      return { data: { replayed } };
    },
  }),
];

async function test(deps: Deps, key: { projectId: number; endpointId: string }): Promise<string> {
  const { db, encrypter, newId, log, webhooks } = deps;
  const outbound = deps.openOutbound();
  try {
    return await testEndpoint({ db, encrypter, newId, log, outbound, agent: webhooks.agent }, key);
  } finally {
    outbound.close();
  }
}

type DeliveryKey = { projectId: number; endpointId: string; webhookId: string };

async function findDelivery({ db }: Pick<Deps, 'db'>, key: DeliveryKey): Promise<WebhookDelivery> {
  const [found] = isId(key.endpointId) ? await listDeliveries(db, { ...key, states: null, limit: 1 }) : [];
  if (found) return deliveryView(found);
  const message = 'No delivery has this ID, or it is older than 30 days and was deleted';
  throw new Fault('not_found', { details: [{ message, field: 'message' }] });
}

type DeliveriesQuery = ListQuery &
  RouteRequest<'GET /projects/:project/webhook-deliveries'>['query'] & { projectId: number };

async function deliveryPage(
  db: Deps['db'],
  { projectId, sort = '-at', ...query }: DeliveriesQuery,
): Promise<ListResponse<WebhookDelivery>> {
  const typed = readFilter(query.filter, FILTER_KEYS.deliveries, await zoneOfProject(db, projectId));
  const page = readPage(query, 3);
  const endpointId = query.endpoint ?? null;
  if (endpointId !== null) await db.transaction((tx) => requireEndpoint(tx, { projectId, endpointId }));
  const states = query.state === undefined ? null : [query.state];
  const webhookId = query.message === undefined ? null : readWebhookName(query.message);
  const filter = { projectId, endpointId, webhookId, states, filter: typed, sort };
  const found = await listDeliveries(db, { ...filter, after: afterOf(page.after), limit: page.rowsMax });
  return toPage(found, page, {
    show: deliveryView,
    cursorOf: (row) => [String(row.createdAt), row.webhookId, row.endpointId],
    total: await countDeliveries(db, { ...filter, limit: page.most }),
  });
}

const CSV_COLUMNS: CsvColumns<WebhookDelivery> = {
  id: ({ id }) => id,
  created_at: ({ created_at: at }) => at,
  endpoint_id: ({ endpoint_id: id }) => id,
  type: ({ type }) => type,
  state: ({ state }) => state,
  attempts: ({ attempts }) => attempts.length,
  last_status: ({ attempts }) => attempts.at(-1)?.status ?? null,
  last_error: ({ attempts }) => attempts.at(-1)?.error ?? null,
  next_attempt_at: ({ next_attempt_at: at }) => at,
  delivered_at: ({ delivered_at: at }) => at,
};

function afterOf(
  parts: string[] | null,
): { createdAt: number; webhookId: string; endpointId: string } | null {
  if (!parts) return null;
  const [at = '', webhookId = '', endpointId = ''] = parts;
  if (!/^\d{1,15}$/.test(at) || !isId(webhookId) || !isId(endpointId)) throw badCursor();
  return { createdAt: Number(at), webhookId, endpointId };
}

type ReplayBody = RouteRequest<'POST /projects/:project/webhook-replays'>['body'];

function replayInput(projectId: number, body: ReplayBody): ReplayInput {
  const { endpoint, message, missed = false, states } = body;
  const since = readTime(body.since, 'since');
  const until = readTime(body.until, 'until');
  checkReplay(body, { since, until });
  return {
    projectId,
    endpointId: endpoint ?? null,
    webhookId: message === undefined ? null : readWebhookName(message),
    since,
    until,
    states: missed
      ? ['missed']
      : (states ?? (message === undefined ? REPLAYED_BY_DEFAULT : [...REPLAYABLE_STATES])),
    history: body.history ?? false,
  };
}

type Times = { since: number | null; until: number | null };

function checkReplay(
  { endpoint, message, missed, history, ...body }: ReplayBody,
  { since, until }: Times,
): void {
  if ([message, body.since, missed].filter((option) => option !== undefined).length !== 1)
    throw invalid('Set one of message, since and missed to select the events to resend', 'since');
  if (history === true && endpoint === undefined)
    throw invalid(
      'history requires endpoint, because events from before its creation are replayed for one endpoint only',
      'endpoint',
    );
  if (since !== null && until !== null && since > until) throw invalid('since must be before until', 'since');
}

function readTime(text: string | undefined, field: string): number | null {
  if (text === undefined) return null;
  const at = parseInstant(text);
  if (Number.isNaN(at)) throw invalid(`${field} must be a time such as 2026-01-15T12:00:00Z`, field);
  return at;
}

function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
