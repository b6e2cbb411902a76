import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { EndpointRef } from './endpoint.ts';
import { type EndpointState, lockEndpoint } from './reads.ts';

const ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Locks an endpoint like `lockEndpoint`. Throws a fault for an unknown id that says where ids are shown. */
export async function requireEndpoint(tx: Tx, key: EndpointRef): Promise<EndpointState> {
  const found = ID.test(key.endpointId) ? await lockEndpoint(tx, key) : undefined;
  if (found) return found;
  const message = `No endpoint has the ID ${JSON.stringify(key.endpointId)}. List the endpoints with: beckon webhooks list`;
  throw new Fault('not_found', { details: [{ message, field: 'endpoint' }] });
}
