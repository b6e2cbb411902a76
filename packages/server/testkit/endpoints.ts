import {
  type Endpoint,
  type EventInput,
  type JsonObject,
  MANY_BODY_MAX_BYTES,
  SINGLE_BODY_MAX_BYTES,
  type UserInput,
} from '@beckon/contract';

/** What the contract says of one endpoint, written down apart from the code that is tested with it. */
export type Facts = {
  name: Endpoint;
  path: string;
  kind: 'single' | 'batch' | 'bulk';
  /** The field that holds the records; null where the body is the record. */
  list: 'users' | 'events' | null;
  stores: 'users' | 'events';
  accepted: 200 | 202;
  /** What a request that is not valid as a whole is answered. */
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

/** A valid record; `more` lies over it, and what is undefined in it is left out. */
export function record(facts: Facts, more: Record<string, unknown> = {}): JsonObject {
  const user: UserInput = { external_user_id: 'u-1', email: 'ada@example.com', traits: { plan: 'pro' } };
  const event: EventInput = { external_user_id: 'u-1', name: 'report_shared', properties: { pages: 3 } };
  return JSON.parse(JSON.stringify({ ...(facts.stores === 'users' ? user : event), ...more })) as JsonObject;
}

/** The field of a record that takes any JSON. */
export function bagOf(facts: Facts): 'traits' | 'properties' {
  return facts.stores === 'users' ? 'traits' : 'properties';
}

/** A body of these records; a single endpoint takes the first. */
export function bodyOf(facts: Facts, records: unknown[] = [record(facts)]): JsonObject {
  return (facts.list === null ? records[0] : { [facts.list]: records }) as JsonObject;
}

/** What is answered where all of `records` were taken. */
export function acceptance(facts: Facts, records = 1): JsonObject {
  if (facts.kind === 'single') return { data: { accepted: true } };
  if (facts.kind === 'batch') return { data: { accepted: true }, meta: { received: records } };
  return { data: { accepted: records, rejected: 0, errors: [] }, meta: { received: records } };
}
