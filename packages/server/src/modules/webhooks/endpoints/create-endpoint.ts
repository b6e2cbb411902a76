import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { checkUrl, type UrlRules } from '../../../platform/outbound/check-url.ts';
import {
  type Endpoint,
  type EndpointPlace,
  ENDPOINTS_MAX,
  IN_FLIGHT_DEFAULT,
  invalid,
  PER_SECOND_DEFAULT,
  readDescription,
  readInFlight,
  readPerSecond,
  readTypes,
} from './endpoint.ts';
import { newHealth } from './health.ts';
import { listEndpoints } from './reads.ts';
import { requireEndpoint } from './require-endpoint.ts';
import { addSecret } from './secrets.ts';
import { insertEndpoint, updateEndpoint } from './store.ts';

/** The settings of an endpoint. An omitted one stays as it is, or gets its default. */
export type EndpointWanted = {
  url?: string | undefined;
  types?: string[] | null | undefined;
  description?: string | undefined;
  perSecond?: number | undefined;
  inFlightMax?: number | undefined;
};
export type NewEndpoint = EndpointWanted & { projectId: number; url: string };

type Deps = { newId: NewId; sealer: Sealer; rules: UrlRules; now: number };

/** Creates an endpoint and returns its secret, which is shown only this once. Requires a transaction. */
export async function createEndpoint(
  tx: Tx,
  deps: Deps,
  wanted: NewEndpoint,
): Promise<{ endpoint: Endpoint; secret: string }> {
  const { newId, sealer, rules, now } = deps;
  const { projectId } = wanted;
  const endpoint: Endpoint = {
    projectId,
    id: newId(),
    url: readUrl(wanted.url, rules),
    types: readTypes(wanted.types ?? null),
    description: readDescription(wanted.description ?? ''),
    createdAt: now,
    disabledAt: null,
    disabledReason: null,
    perSecond: readPerSecond(wanted.perSecond ?? PER_SECOND_DEFAULT),
    inFlightMax: readInFlight(wanted.inFlightMax ?? IN_FLIGHT_DEFAULT),
  };
  // Locks the row of the project, in another module's table, so that two concurrent creations cannot exceed the limit.
  await tx.query(`SELECT 1 FROM beckon.project WHERE project_id = $1 FOR NO KEY UPDATE`, [projectId]);
  if ((await listEndpoints(tx, projectId)).length >= ENDPOINTS_MAX) throw tooMany();
  await insertEndpoint(tx, endpoint, newHealth(endpoint.perSecond, now));
  const place = { projectId, endpointId: endpoint.id };
  return { endpoint, secret: await addSecret(tx, sealer, { ...place, id: newId(), now, overlapMs: 0 }) };
}

/** Edits an endpoint. Pending deliveries go to the new URL. New types apply to later events, and what was queued before stays queued. */
export async function editEndpoint(
  tx: Tx,
  place: EndpointPlace,
  { wanted, rules }: { wanted: EndpointWanted; rules: UrlRules },
): Promise<Endpoint> {
  const { endpoint } = await requireEndpoint(tx, place);
  const { url, types, description, perSecond, inFlightMax } = wanted;
  const edited: Endpoint = {
    ...endpoint,
    ...(url === undefined ? {} : { url: readUrl(url, rules) }),
    ...(types === undefined ? {} : { types: readTypes(types) }),
    ...(description === undefined ? {} : { description: readDescription(description) }),
    ...(perSecond === undefined ? {} : { perSecond: readPerSecond(perSecond) }),
    ...(inFlightMax === undefined ? {} : { inFlightMax: readInFlight(inFlightMax) }),
  };
  await updateEndpoint(tx, edited);
  return edited;
}

function readUrl(text: string, rules: UrlRules): string {
  const checked = checkUrl(text, rules);
  if (!checked.ok) throw invalid(`${JSON.stringify(text)} cannot be an endpoint URL. ${checked.why}`, 'url');
  return checked.url.href;
}

function tooMany(): Fault {
  const message = `This project has ${ENDPOINTS_MAX} endpoints, which is the maximum. Delete one first`;
  return new Fault('conflict', { details: [{ message, field: 'project' }] });
}
