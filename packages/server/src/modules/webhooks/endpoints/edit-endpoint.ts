import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';
import { addSecret } from './secrets.ts';
import { createEndpoint, editEndpoint, type EndpointWanted, type NewEndpoint } from './create-endpoint.ts';
import { deleteEndpoint, updateDisabled, updateEnabled } from './store.ts';
import type { Endpoint, EndpointPlace } from './endpoint.ts';
import { requireEndpoint } from './require-endpoint.ts';
import { listSettings } from '../../workspace/index.ts';
import { dropPending } from '../deliveries/store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { UrlRules } from '../../../platform/outbound/check-url.ts';

/** Member actions on endpoints, and their effect on waiting deliveries. */
export type EndpointDeps = {
  db: Pick<Database, 'transaction' | 'clock'>;
  newId: NewId;
  sealer: Sealer;
  rules: UrlRules;
};

/** Maximum number of deliveries per step. Each step is a transaction. */
const STEP = 1_000;

export function addEndpoint(
  { db, newId, sealer, rules }: EndpointDeps,
  wanted: NewEndpoint,
): Promise<{ endpoint: Endpoint; secret: string }> {
  return db.transaction(async (tx) => {
    await refuseDemo(tx, wanted.projectId);
    return createEndpoint(tx, { newId, sealer, rules, now: db.clock.now() }, wanted);
  });
}

export function changeEndpoint(
  { db, rules }: Pick<EndpointDeps, 'db' | 'rules'>,
  place: EndpointPlace,
  wanted: EndpointWanted,
): Promise<Endpoint> {
  return db.transaction((tx) => editEndpoint(tx, place, { wanted, rules }));
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
  { db, newId, sealer }: Omit<EndpointDeps, 'rules'>,
  place: EndpointPlace,
  overlapMs: number,
): Promise<string> {
  return db.transaction(async (tx) => {
    await requireEndpoint(tx, place);
    return addSecret(tx, sealer, { ...place, id: newId(), now: db.clock.now(), overlapMs });
  });
}

/** Disables an endpoint. Waiting and later deliveries are marked as missed. Returns how many were waiting. */
export async function disableEndpoint(
  { db }: Pick<EndpointDeps, 'db'>,
  place: EndpointPlace,
): Promise<{ missed: number }> {
  await db.transaction(async (tx) => {
    const { endpoint } = await requireEndpoint(tx, place);
    if (endpoint.disabledAt !== null) return;
    await updateDisabled(tx, { ...place, at: db.clock.now(), reason: 'manual' });
  });
  return { missed: await drop(db, place, 'missed') };
}

/** Enables an endpoint. Missed deliveries stay missed until they are replayed. */
export async function enableEndpoint(
  { db }: Pick<EndpointDeps, 'db'>,
  place: EndpointPlace,
): Promise<Endpoint> {
  return db.transaction(async (tx) => {
    const { endpoint } = await requireEndpoint(tx, place);
    if (endpoint.disabledAt === null) return endpoint;
    await refuseDemo(tx, place.projectId);
    while ((await dropStep(tx, place, 'missed')) === STEP);
    await updateEnabled(tx, place);
    return { ...endpoint, disabledAt: null, disabledReason: null };
  });
}

/** Deletes an endpoint with its secrets. Its deliveries stay visible; those that wait or are in flight are canceled. */
export async function removeEndpoint(
  { db }: Pick<EndpointDeps, 'db'>,
  place: EndpointPlace,
): Promise<{ endpoint: Endpoint; canceled: number }> {
  const endpoint = await db.transaction(async (tx) => {
    const found = await requireEndpoint(tx, place);
    await updateDisabled(tx, { ...place, at: db.clock.now(), reason: 'deleted' });
    return found.endpoint;
  });
  const canceled = await drop(db, place, 'canceled');
  await db.transaction(async (tx) => {
    await requireEndpoint(tx, place);
    await dropStep(tx, place, 'canceled');
    await deleteEndpoint(tx, place);
  });
  return { endpoint, canceled };
}

type Dropped = 'missed' | 'canceled';

async function drop(db: EndpointDeps['db'], place: EndpointPlace, state: Dropped): Promise<number> {
  let total = 0;
  for (let dropped = STEP; dropped === STEP;) {
    dropped = await db.transaction((tx) => dropStep(tx, place, state));
    total += dropped;
  }
  return total;
}

function dropStep(tx: Tx, place: EndpointPlace, state: Dropped): Promise<number> {
  return dropPending(tx, { places: [place], state, limit: STEP });
}
