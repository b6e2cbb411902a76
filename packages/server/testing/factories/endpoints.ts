import {
  type Endpoint,
  type EventInput,
  type JsonObject,
  MANY_BODY_MAX_BYTES,
  SINGLE_BODY_MAX_BYTES,
  type UserInput,
} from '@beckon/contract';

/** The contract of one endpoint, stated apart from the code under test. */
export type Facts = {
  name: Endpoint;
  path: string;
  kind: 'single' | 'batch' | 'bulk';
  /** The field that holds the records, or null if the body is the record. */
  list: 'users' | 'events' | null;
  stores: 'users' | 'events';
  accepted: 200 | 202;
  /** The status of a request that is invalid as a whole. */
  invalid: 400 | 422;
  bodyMaxBytes: number;
};

export const USERS: Facts = {
  name: 'users',
  path: '/api/v1/users',
  kind: 'single',
  list: null,
  stores: 'users',
  accepted: 202,
  invalid: 422,
  bodyMaxBytes: SINGLE_BODY_MAX_BYTES,
};
export const USERS_BULK: Facts = {
  name: 'users-bulk',
  path: '/api/v1/users/bulk',
  kind: 'bulk',
  list: 'users',
  stores: 'users',
  accepted: 200,
  invalid: 400,
  bodyMaxBytes: MANY_BODY_MAX_BYTES,
};
export const EVENTS: Facts = { ...USERS, name: 'events', path: '/api/v1/events', stores: 'events' };
export const EVENTS_BATCH: Facts = {
  name: 'events-batch',
  path: '/api/v1/events/batch',
  kind: 'batch',
  list: 'events',
  stores: 'events',
  accepted: 202,
  invalid: 422,
  bodyMaxBytes: MANY_BODY_MAX_BYTES,
};
export const EVENTS_BULK: Facts = {
  ...USERS_BULK,
  name: 'events-bulk',
  path: '/api/v1/events/bulk',
  list: 'events',
  stores: 'events',
};
export const ALL_ENDPOINTS = [USERS, USERS_BULK, EVENTS, EVENTS_BATCH, EVENTS_BULK];

/** Returns a valid record with the fields of `more`. Undefined fields are omitted. */
export function record(facts: Facts, more: Record<string, unknown> = {}): JsonObject {
  const user: UserInput = { external_user_id: 'u-1', email: 'ada@example.com', traits: { plan: 'pro' } };
  const event: EventInput = { external_user_id: 'u-1', name: 'report_shared', properties: { pages: 3 } };
  return JSON.parse(JSON.stringify({ ...(facts.stores === 'users' ? user : event), ...more })) as JsonObject;
}

/** Returns the field of a record that takes any JSON. */
export function bagOf(facts: Facts): 'traits' | 'properties' {
  return facts.stores === 'users' ? 'traits' : 'properties';
}

/** Returns a body of these records. A single endpoint takes the first. */
export function bodyOf(facts: Facts, records: unknown[] = [record(facts)]): JsonObject {
  return (facts.list === null ? records[0] : { [facts.list]: records }) as JsonObject;
}

/** Returns the response if all of `records` were accepted. */
export function acceptance(facts: Facts, records = 1): JsonObject {
  if (facts.kind === 'single') return { data: { accepted: true } };
  if (facts.kind === 'batch') return { data: { accepted: true }, meta: { received: records } };
  return { data: { accepted: records, rejected: 0, errors: [] }, meta: { received: records } };
}
