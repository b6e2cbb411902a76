import { Type } from 'typebox';
import type { WebhookEndpointWanted } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import type { EndpointRef, WebhookSettings } from './endpoint.ts';
import {
  addEndpoint,
  changeEndpoint,
  disableEndpoint,
  enableEndpoint,
  type EndpointWanted,
  removeEndpoint,
  rotateSecret,
} from './change-endpoint.ts';
import { OVERLAP_DEFAULT_MS } from './secrets.ts';
import { showEndpoint, showEndpoints } from '../deliveries/views.ts';
import { routesFor, wholeList, type KitDeps } from '../../workspace/index.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';

type Deps = KitDeps & { sealer: Sealer; webhooks: WebhookSettings };
const { route } = routesFor<Deps>();

const HOUR_MS = 3_600_000;
const OVERLAP_MAX_HOURS = 7 * 24;

const WANTED = {
  types: Type.Optional(Type.Union([Type.Array(Type.String(), { maxItems: 100 }), Type.Null()])),
  description: Type.Optional(Type.String()),
  per_second: Type.Optional(Type.Number()),
  in_flight_max: Type.Optional(Type.Number()),
};

const endpointRoutes = [
  route('GET /projects/:project/webhooks', {
    needs: 'admin',
    scope: 'read',
    handle: async ({ db }, { projectId }) => wholeList(await showEndpoints(db, projectId)),
  }),
  route('POST /projects/:project/webhooks', {
    needs: 'admin',
    audit: 'webhook.create',
    body: Type.Object({ url: Type.String(), ...WANTED }),
    async handle(deps, { projectId, body, note }) {
      const wanted = { ...wantedOf(body), projectId, url: body.url };
      const { endpoint, secret } = await addEndpoint(endpointDeps(deps), wanted);
      const shown = await showEndpoint(deps.db, { projectId, endpointId: endpoint.id });
      note({ subject: endpoint.url, after: { ...body, id: endpoint.id } });
      return { data: { ...shown, secret } };
    },
  }),
  route('GET /projects/:project/webhooks/:endpoint', {
    needs: 'admin',
    handle: async ({ db }, asked) => ({ data: await showEndpoint(db, placeOf(asked)) }),
  }),
  route('PATCH /projects/:project/webhooks/:endpoint', {
    needs: 'admin',
    audit: 'webhook.update',
    body: Type.Object({ url: Type.Optional(Type.String()), ...WANTED }),
    async handle(deps, asked) {
      const place = placeOf(asked);
      const before = await showEndpoint(deps.db, place);
      await changeEndpoint(endpointDeps(deps), place, wantedOf(asked.body));
      const after = await showEndpoint(deps.db, place);
      asked.note({ subject: before.url, before: saidOf(before), after: saidOf(after) });
      return { data: after };
    },
  }),
  route('DELETE /projects/:project/webhooks/:endpoint', {
    needs: 'admin',
    audit: 'webhook.delete',
    body: Type.Object({ url: Type.String() }),
    async handle({ db }, asked) {
      const place = placeOf(asked);
      const before = await showEndpoint(db, place);
      if (asked.body.url !== before.url) throw notTyped(before.url);
      const { canceled } = await removeEndpoint({ db }, place);
      asked.note({ subject: before.url, before: saidOf(before), after: { canceled } });
      return { data: { canceled } };
    },
  }),
];

const switchRoutes = [
  route('POST /projects/:project/webhooks/:endpoint/enable', {
    needs: 'admin',
    audit: 'webhook.enable',
    async handle({ db }, asked) {
      const place = placeOf(asked);
      await enableEndpoint({ db }, place);
      const data = await showEndpoint(db, place);
      asked.note({ subject: data.url });
      return { data };
    },
  }),
  route('POST /projects/:project/webhooks/:endpoint/disable', {
    needs: 'admin',
    audit: 'webhook.disable',
    async handle({ db }, asked) {
      const place = placeOf(asked);
      const { missed } = await disableEndpoint({ db }, place);
      const shown = await showEndpoint(db, place);
      asked.note({ subject: shown.url, after: { missed } });
      return { data: { ...shown, missed } };
    },
  }),
  route('POST /projects/:project/webhooks/:endpoint/rotate', {
    needs: 'admin',
    audit: 'webhook.rotate_secret',
    body: Type.Object({
      overlap_hours: Type.Optional(Type.Number({ minimum: 0, maximum: OVERLAP_MAX_HOURS })),
    }),
    async handle(deps, asked) {
      const place = placeOf(asked);
      const { overlap_hours: hours } = asked.body;
      const overlapMs = hours === undefined ? OVERLAP_DEFAULT_MS : Math.round(hours * HOUR_MS);
      const secret = await rotateSecret(endpointDeps(deps), place, overlapMs);
      const shown = await showEndpoint(deps.db, place);
      asked.note({ subject: shown.url, after: { overlap_ms: overlapMs } });
      return { data: { ...shown, secret } };
    },
  }),
];

export const webhookRoutes = [...endpointRoutes, ...switchRoutes];

function placeOf(asked: { projectId: number; params: { endpoint: string } }): EndpointRef {
  return { projectId: asked.projectId, endpointId: asked.params.endpoint };
}

function wantedOf(body: WebhookEndpointWanted): EndpointWanted {
  const { url, types, description, per_second: perSecond, in_flight_max: inFlightMax } = body;
  return { url, types, description, perSecond, inFlightMax };
}

/** Returns the settings of an endpoint that members choose, for the audit log. */
function saidOf({
  url,
  types,
  description,
  per_second,
  in_flight_max,
}: WebhookEndpointWanted): WebhookEndpointWanted {
  return {
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { types }),
    ...(description === undefined ? {} : { description }),
    ...(per_second === undefined ? {} : { per_second }),
    ...(in_flight_max === undefined ? {} : { in_flight_max }),
  };
}

function endpointDeps({ db, sealer, newId, webhooks }: Deps) {
  return { db, sealer, newId, rules: webhooks };
}

function notTyped(url: string): Fault {
  const message = `Enter the URL of the endpoint to delete it: ${url}`;
  return new Fault('validation_failed', { details: [{ message, field: 'url' }] });
}
