import { Type } from 'typebox';
import type { WebhookDelivery } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import { requireEndpoint } from '../endpoints/require-endpoint.ts';
import { countDeliveries, findBody, listDeliveries } from './reads.ts';
import { type DeliveryState, readMessageName } from './webhook.ts';
import { testEndpoint } from '../dispatch/test-endpoint.ts';
import { replayWebhooks, type ReplayWanted } from './replay.ts';
import { showEndpoint, toDelivery } from './views.ts';
import {
  badCursor,
  isId,
  PAGE,
  readPage,
  toPage,
  type RouteRequest,
  routesFor,
  type KitDeps,
} from '../../workspace/index.ts';
import type { WebhookSettings } from '../endpoints/endpoint.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

type Deps = KitDeps & { openOutbound: () => Outbound; sealer: Sealer; webhooks: WebhookSettings };
const { route } = routesFor<Deps>();

const STATES = ['pending', 'delivering', 'delivered', 'exhausted', 'missed', 'canceled'] as const;
const REPLAYABLE = ['exhausted', 'missed', 'delivered'] as const;
const REPLAYED_UNASKED: DeliveryState[] = ['exhausted', 'missed'];
const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));
const ID = Type.String({ maxLength: 100 });

export const webhookDeliveryRoutes = [
  route('POST /projects/:project/webhooks/:endpoint/test', {
    needs: 'admin',
    audit: 'webhook.send_test',
    async handle(deps, { projectId, params: { endpoint: endpointId }, note }) {
      const place = { projectId, endpointId };
      const messageId = await test(deps, place);
      const data = await findDelivery(deps, { ...place, messageId });
      note({
        subject: (await showEndpoint(deps.db, place)).url,
        after: { message: data.id, state: data.state },
      });
      return { data };
    },
  }),
  route('GET /projects/:project/webhook-deliveries', {
    needs: 'admin',
    scope: 'read',
    query: Type.Object({
      cursor: PAGE.cursor,
      limit: PAGE.limit,
      endpoint: Type.Optional(ID),
      message: Type.Optional(ID),
      state: Type.Optional(oneOf(STATES)),
    }),
    handle: listed,
  }),
  route('GET /projects/:project/webhook-deliveries/:message/:endpoint', {
    needs: 'admin',
    scope: 'read',
    async handle(deps, { projectId, params }) {
      const place = { projectId, messageId: readMessageName(params.message), endpointId: params.endpoint };
      const delivery = await findDelivery(deps, place);
      return { data: { ...delivery, body: await findBody(deps.db, place) } };
    },
  }),
  route('POST /projects/:project/webhook-replays', {
    needs: 'admin',
    scope: 'review',
    isHeavy: true,
    audit: 'webhook.replay',
    body: Type.Object({
      endpoint: Type.Optional(ID),
      message: Type.Optional(ID),
      since: Type.Optional(Type.String()),
      until: Type.Optional(Type.String()),
      missed: Type.Optional(Type.Literal(true)),
      states: Type.Optional(Type.Array(oneOf(REPLAYABLE), { minItems: 1, maxItems: 3 })),
      history: Type.Optional(Type.Boolean()),
    }),
    async handle({ db }, { projectId, body, note }) {
      const wanted = wantedOf(projectId, body);
      const { replayed } = await replayWebhooks(db, wanted);
      note({ subject: body.message ?? body.endpoint ?? 'all', after: { ...body, replayed } });
      return { data: { replayed } };
    },
  }),
];

async function test(deps: Deps, place: { projectId: number; endpointId: string }): Promise<string> {
  const { db, sealer, newId, log, webhooks } = deps;
  const outbound = deps.openOutbound();
  try {
    return await testEndpoint({ db, sealer, newId, log, outbound, agent: webhooks.agent }, place);
  } finally {
    outbound.close();
  }
}

type DeliveryPlace = { projectId: number; endpointId: string; messageId: string };

async function findDelivery({ db }: Pick<Deps, 'db'>, place: DeliveryPlace): Promise<WebhookDelivery> {
  const [found] = isId(place.endpointId)
    ? await listDeliveries(db, { ...place, states: null, limit: 1 })
    : [];
  if (found) return toDelivery(found);
  const message = 'No delivery has this ID, or it is older than 30 days and was deleted';
  throw new Fault('not_found', { details: [{ message, field: 'message' }] });
}

async function listed(
  { db }: Deps,
  { projectId, query }: RouteRequest<'GET /projects/:project/webhook-deliveries'>,
) {
  const page = readPage(query, 3);
  const endpointId = query.endpoint ?? null;
  if (endpointId !== null) await db.transaction((tx) => requireEndpoint(tx, { projectId, endpointId }));
  const states = query.state === undefined ? null : [query.state];
  const messageId = query.message === undefined ? null : readMessageName(query.message);
  const wanted = { projectId, endpointId, messageId, states };
  const found = await listDeliveries(db, { ...wanted, after: afterOf(page.after), limit: page.rowsMax });
  return toPage(found, page, {
    show: toDelivery,
    placeOf: (one) => [String(one.createdAt), one.messageId, one.endpointId],
    total: await countDeliveries(db, { ...wanted, limit: page.most }),
  });
}

function afterOf(
  parts: string[] | null,
): { createdAt: number; messageId: string; endpointId: string } | null {
  if (!parts) return null;
  const [at = '', messageId = '', endpointId = ''] = parts;
  if (!/^\d{1,15}$/.test(at) || !isId(messageId) || !isId(endpointId)) throw badCursor();
  return { createdAt: Number(at), messageId, endpointId };
}

type ReplayBody = RouteRequest<'POST /projects/:project/webhook-replays'>['body'];

function wantedOf(projectId: number, body: ReplayBody): ReplayWanted {
  const { endpoint, message, missed = false, states } = body;
  const since = readTime(body.since, 'since');
  const until = readTime(body.until, 'until');
  checkReplay(body, { since, until });
  return {
    projectId,
    endpointId: endpoint ?? null,
    messageId: message === undefined ? null : readMessageName(message),
    since,
    until,
    states: missed ? ['missed'] : (states ?? (message === undefined ? REPLAYED_UNASKED : [...REPLAYABLE])),
    history: body.history ?? false,
  };
}

type Times = { since: number | null; until: number | null };

function checkReplay(
  { endpoint, message, missed, history, ...body }: ReplayBody,
  { since, until }: Times,
): void {
  if ([message, body.since, missed].filter((ask) => ask !== undefined).length !== 1)
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
