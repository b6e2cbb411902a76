import { dropPending } from '../deliveries/store.ts';
import {
  type Endpoint,
  type EndpointRef,
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
import { deleteEndpoint, insertEndpoint, updateDisabled, updateEnabled, updateEndpoint } from './store.ts';
import { listSettings } from '../../workspace/index.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import { checkUrl, type UrlRules } from '../../../platform/outbound/check-url.ts';

/** Member actions on endpoints, and their effect on waiting deliveries. */
export type EndpointDeps = {
  db: Pick<Database, 'transaction' | 'clock'>;
  newId: NewId;
  encrypter: Encrypter;
  rules: UrlRules;
};

/** Maximum number of deliveries per step. Each step is a transaction. */
const STEP = 1_000;

export function addEndpoint(
  { db, newId, encrypter, rules }: EndpointDeps,
  input: NewEndpoint,
): Promise<{ endpoint: Endpoint; secret: string }> {
  return db.transaction(async (tx) => {
    await refuseDemo(tx, input.projectId);
    return createEndpoint(tx, { newId, encrypter, rules, now: db.clock.now() }, input);
  });
}

export function changeEndpoint(
  { db, rules }: Pick<EndpointDeps, 'db' | 'rules'>,
  key: EndpointRef,
  input: EndpointInput,
): Promise<Endpoint> {
  return db.transaction((tx) => editEndpoint(tx, key, { input, rules }));
}

/** Demo data is not sent anywhere. */
async function refuseDemo(tx: Tx, projectId: number): Promise<void> {
  const project = (await listSettings(tx, [projectId])).get(projectId);
  if (!project?.isDemo) return;
  const message = 'A demo project sends no webhooks. Use another project';
  throw new Fault('conflict', { details: [{ message, field: 'project' }] });
}

/** Returns the new secret, which is shown only here. The old secrets stay valid for the overlap. */
export function rotateSecret(
  { db, newId, encrypter }: Omit<EndpointDeps, 'rules'>,
  key: EndpointRef,
  overlapMs: number,
): Promise<string> {
  return db.transaction(async (tx) => {
    await requireEndpoint(tx, key);
    return addSecret(tx, encrypter, { ...key, id: newId(), now: db.clock.now(), overlapMs });
  });
}

/** Disables an endpoint. Waiting and later deliveries are marked as missed. Returns how many were waiting. */
export async function disableEndpoint(
  { db }: Pick<EndpointDeps, 'db'>,
  key: EndpointRef,
): Promise<{ missed: number }> {
  await db.transaction(async (tx) => {
    const { endpoint } = await requireEndpoint(tx, key);
    if (endpoint.disabledAt !== null) return;
    await updateDisabled(tx, { ...key, at: db.clock.now(), reason: 'manual' });
  });
  return { missed: await drop(db, key, 'missed') };
}

/** Enables an endpoint. Missed deliveries stay missed until they are replayed. */
export async function enableEndpoint({ db }: Pick<EndpointDeps, 'db'>, key: EndpointRef): Promise<Endpoint> {
  return db.transaction(async (tx) => {
    const { endpoint } = await requireEndpoint(tx, key);
    if (endpoint.disabledAt === null) return endpoint;
    await refuseDemo(tx, key.projectId);
    while ((await dropStep(tx, key, 'missed')) === STEP);
    await updateEnabled(tx, key);
    return { ...endpoint, disabledAt: null, disabledReason: null };
  });
}

/** Deletes an endpoint with its secrets. Its deliveries stay visible; those that wait or are in flight are canceled. */
export async function removeEndpoint(
  { db }: Pick<EndpointDeps, 'db'>,
  key: EndpointRef,
): Promise<{ endpoint: Endpoint; canceled: number }> {
  const endpoint = await db.transaction(async (tx) => {
    const found = await requireEndpoint(tx, key);
    await updateDisabled(tx, { ...key, at: db.clock.now(), reason: 'deleted' });
    return found.endpoint;
  });
  const canceled = await drop(db, key, 'canceled');
  await db.transaction(async (tx) => {
    await requireEndpoint(tx, key);
    await dropStep(tx, key, 'canceled');
    await deleteEndpoint(tx, key);
  });
  return { endpoint, canceled };
}

type Dropped = 'missed' | 'canceled';

async function drop(db: EndpointDeps['db'], key: EndpointRef, state: Dropped): Promise<number> {
  let total = 0;
  for (let dropped = STEP; dropped === STEP;) {
    dropped = await db.transaction((tx) => dropStep(tx, key, state));
    total += dropped;
  }
  return total;
}

function dropStep(tx: Tx, key: EndpointRef, state: Dropped): Promise<number> {
  return dropPending(tx, { keys: [key], state, limit: STEP });
}

/** The settings of an endpoint. An omitted one stays as it is, or gets its default. */
export type EndpointInput = {
  url?: string | undefined;
  types?: string[] | null | undefined;
  description?: string | undefined;
  perSecond?: number | undefined;
  inFlightMax?: number | undefined;
};
export type NewEndpoint = EndpointInput & { projectId: number; url: string };

type Deps = { newId: NewId; encrypter: Encrypter; rules: UrlRules; now: number };

/** Creates an endpoint and returns its secret, which is shown only this once. Requires a transaction. */
export async function createEndpoint(
  tx: Tx,
  deps: Deps,
  input: NewEndpoint,
): Promise<{ endpoint: Endpoint; secret: string }> {
  const { newId, encrypter, rules, now } = deps;
  const { projectId } = input;
  const endpoint: Endpoint = {
    projectId,
    id: newId(),
    url: readUrl(input.url, rules),
    types: readTypes(input.types ?? null),
    description: readDescription(input.description ?? ''),
    createdAt: now,
    disabledAt: null,
    disabledReason: null,
    perSecond: readPerSecond(input.perSecond ?? PER_SECOND_DEFAULT),
    inFlightMax: readInFlight(input.inFlightMax ?? IN_FLIGHT_DEFAULT),
  };
  // Locks the row of the project, in another module's table, so that two concurrent creations cannot exceed the limit.
  await tx.query(`SELECT 1 FROM beckon.project WHERE project_id = $1 FOR NO KEY UPDATE`, [projectId]);
  if ((await listEndpoints(tx, projectId)).length >= ENDPOINTS_MAX) throw tooMany();
  await insertEndpoint(tx, endpoint, newHealth(endpoint.perSecond, now));
  const key = { projectId, endpointId: endpoint.id };
  return { endpoint, secret: await addSecret(tx, encrypter, { ...key, id: newId(), now, overlapMs: 0 }) };
}

/** Edits an endpoint. Pending deliveries go to the new URL. New types apply to later events, and what was queued before stays queued. */
async function editEndpoint(
  tx: Tx,
  key: EndpointRef,
  { input, rules }: { input: EndpointInput; rules: UrlRules },
): Promise<Endpoint> {
  const { endpoint } = await requireEndpoint(tx, key);
  const { url, types, description, perSecond, inFlightMax } = input;
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
  if (checked.ok) return checked.url.href;
  const hint = checkUrl(text, { allowPrivate: true }).ok ? `. ${PRIVATE_HINT}` : '';
  throw invalid(`${JSON.stringify(text)} cannot be an endpoint URL. ${checked.why}${hint}`, 'url');
}

/** For a URL that would be valid in development: how to receive webhooks on a machine without a public address. */
const PRIVATE_HINT =
  'To receive webhooks on your own machine, run: beckon listen. To allow private addresses in development, set WEBHOOK_ALLOW_PRIVATE=true';

function tooMany(): Fault {
  const message = `This project has ${ENDPOINTS_MAX} endpoints, which is the maximum. Delete one first`;
  return new Fault('conflict', { details: [{ message, field: 'project' }] });
}
