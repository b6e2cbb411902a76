import { WEBHOOK_TYPES } from '@beckon/contract';
import {
  FILTER_KEYS,
  type ListResponse,
  type WebhookEndpoint,
  type WebhookEndpointInput,
} from '@beckon/contract/dashboard';
import { matches, WORDS, wordsText } from '../../../platform/filter/filter.ts';
import { readFilter } from '../../../platform/filter/parse.ts';
import { Fault } from '../../../platform/fault.ts';
import type { EndpointRef, WebhookSettings } from './endpoint.ts';
import {
  addEndpoint,
  changeEndpoint,
  disableEndpoint,
  enableEndpoint,
  type EndpointInput,
  removeEndpoint,
  rotateSecret,
} from './change-endpoint.ts';
import { OVERLAP_DEFAULT_MS } from './secrets.ts';
import { showEndpoint, showEndpoints } from '../deliveries/views.ts';
import {
  type CsvColumns,
  type KitDeps,
  type ListQuery,
  pageOfAll,
  routesFor,
  sendCsv,
  zoneOfProject,
} from '../../workspace/index.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';

type Deps = KitDeps & { encrypter: Encrypter; webhooks: WebhookSettings };
const { route } = routesFor<Deps>();

const HOUR_MS = 3_600_000;

const CSV_COLUMNS: CsvColumns<WebhookEndpoint> = {
  id: ({ id }) => id,
  url: ({ url }) => url,
  description: ({ description }) => description,
  state: ({ state }) => state,
  disabled_reason: ({ disabled_reason: reason }) => reason,
  types: ({ types }) => types?.join(' ') ?? 'all',
  failures: ({ failures }) => failures,
  last_success_at: ({ last_success_at: at }) => at,
  created_at: ({ created_at: at }) => at,
};

const endpointRoutes = [
  route('GET /projects/:project/webhooks', {
    needs: 'admin',
    scope: 'read',
    handle: ({ db }, { projectId, query }) => endpointPage(db, { projectId, ...query }),
  }),
  route('GET /projects/:project/webhooks.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'webhooks.export',
    handle: ({ db }, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'webhooks.csv',
        columns: CSV_COLUMNS,
        load: (page) => endpointPage(db, { projectId, ...query, ...page }),
      }),
  }),
  route('POST /projects/:project/webhooks', {
    needs: 'admin',
    audit: 'webhook.create',
    async handle(deps, { projectId, body, note }) {
      const input = { ...endpointInput(body), projectId, url: body.url };
      const { endpoint, secret } = await addEndpoint(endpointDeps(deps), input);
      const view = await showEndpoint(deps.db, { projectId, endpointId: endpoint.id });
      note({ subject: endpoint.url, after: { ...body, id: endpoint.id } });
      return { data: { ...view, secret } };
    },
  }),
  route('GET /projects/:project/webhooks/:endpoint', {
    needs: 'admin',
    handle: async ({ db }, request) => ({ data: await showEndpoint(db, endpointKey(request)) }),
  }),
  route('PATCH /projects/:project/webhooks/:endpoint', {
    needs: 'admin',
    audit: 'webhook.update',
    async handle(deps, request) {
      const key = endpointKey(request);
      const before = await showEndpoint(deps.db, key);
      await changeEndpoint(endpointDeps(deps), key, endpointInput(request.body));
      const after = await showEndpoint(deps.db, key);
      request.note({ subject: before.url, before: endpointSettings(before), after: endpointSettings(after) });
      return { data: after };
    },
  }),
  route('DELETE /projects/:project/webhooks/:endpoint', {
    needs: 'admin',
    audit: 'webhook.delete',
    async handle({ db }, request) {
      const key = endpointKey(request);
      const before = await showEndpoint(db, key);
      if (request.body.url !== before.url) throw notTyped(before.url);
      const { canceled } = await removeEndpoint({ db }, key);
      request.note({ subject: before.url, before: endpointSettings(before), after: { canceled } });
      return { data: { canceled } };
    },
  }),
];

const switchRoutes = [
  route('POST /projects/:project/webhooks/:endpoint/enable', {
    needs: 'admin',
    audit: 'webhook.enable',
    async handle({ db }, request) {
      const key = endpointKey(request);
      await enableEndpoint({ db }, key);
      const data = await showEndpoint(db, key);
      request.note({ subject: data.url });
      return { data };
    },
  }),
  route('POST /projects/:project/webhooks/:endpoint/disable', {
    needs: 'admin',
    audit: 'webhook.disable',
    async handle({ db }, request) {
      const key = endpointKey(request);
      const { missed } = await disableEndpoint({ db }, key);
      const view = await showEndpoint(db, key);
      request.note({ subject: view.url, after: { missed } });
      return { data: { ...view, missed } };
    },
  }),
  route('POST /projects/:project/webhooks/:endpoint/rotate', {
    needs: 'admin',
    audit: 'webhook.rotate_secret',
    async handle(deps, request) {
      const key = endpointKey(request);
      const { overlap_hours: hours } = request.body;
      const overlapMs = hours === undefined ? OVERLAP_DEFAULT_MS : Math.round(hours * HOUR_MS);
      const secret = await rotateSecret(endpointDeps(deps), key, overlapMs);
      const view = await showEndpoint(deps.db, key);
      request.note({ subject: view.url, after: { overlap_ms: overlapMs } });
      return { data: { ...view, secret } };
    },
  }),
];

export const webhookRoutes = [...endpointRoutes, ...switchRoutes];

type EndpointsQuery = ListQuery & { projectId: number; filter?: string };

async function endpointPage(
  db: Deps['db'],
  { projectId, filter: text, ...page }: EndpointsQuery,
): Promise<ListResponse<WebhookEndpoint>> {
  const filter = readFilter(text, FILTER_KEYS.endpoints, await zoneOfProject(db, projectId));
  const rows = (await showEndpoints(db, projectId)).filter((endpoint) => {
    const { url, description, state, failures, types, created_at: created } = endpoint;
    return matches(filter, {
      url,
      description,
      state,
      failing: failures > 0 ? 'yes' : 'no',
      type: types ?? WEBHOOK_TYPES,
      created,
      [WORDS]: wordsText([url, description]),
    });
  });
  return pageOfAll(rows, page);
}

function endpointKey(request: { projectId: number; params: { endpoint: string } }): EndpointRef {
  return { projectId: request.projectId, endpointId: request.params.endpoint };
}

function endpointInput(body: WebhookEndpointInput): EndpointInput {
  const { url, types, description, per_second: perSecond, in_flight_max: inFlightMax } = body;
  return { url, types, description, perSecond, inFlightMax };
}

/** Returns the settings of an endpoint that members choose, for the audit log. */
function endpointSettings({
  url,
  types,
  description,
  per_second,
  in_flight_max,
}: WebhookEndpointInput): WebhookEndpointInput {
  return {
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { types }),
    ...(description === undefined ? {} : { description }),
    ...(per_second === undefined ? {} : { per_second }),
    ...(in_flight_max === undefined ? {} : { in_flight_max }),
  };
}

function endpointDeps({ db, encrypter, newId, webhooks }: Deps) {
  return { db, encrypter, newId, rules: webhooks };
}

function notTyped(url: string): Fault {
  const message = `Enter the URL of the endpoint to delete it: ${url}`;
  return new Fault('validation_failed', { details: [{ message, field: 'url' }] });
}
