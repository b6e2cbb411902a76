import type { Endpoint } from '@beckon/contract';

/** The description of an endpoint, with example bodies. Example responses come from the endpoint itself. */
export type OperationText = {
  operationId: string;
  tag: 'Users' | 'Events';
  summary: string;
  description: string;
  request: string;
  response: string;
  success: string;
  body: Record<string, unknown>;
  /** Fits the schema of a bulk request, and contains records that are rejected one by one. */
  partly?: Record<string, unknown>;
  /** A body that is rejected completely. */
  invalid: Record<string, unknown>;
};

const USER = {
  external_user_id: 'user_42',
  email: 'ada@example.com',
  traits: { name: 'Ada Lovelace', plan: 'pro', signupDate: '2026-01-15', seats: 12 },
};
const EVENT = {
  external_user_id: 'user_42',
  name: 'feature_used',
  properties: { feature: 'export', count: 3 },
  occurred_at: '2026-01-15T09:30:00.000Z',
};
const TRIAL = { external_user_id: 'user_43', name: 'trial_started', properties: { trialDays: 14 } };
const IMPORTED = {
  external_user_id: 'user_42',
  name: 'subscription_started',
  properties: { plan: 'pro', interval: 'month' },
  occurred_at: '2025-11-02T08:00:00.000Z',
  message_id: 'billing-1001',
};
const NO_PERCENT = {
  external_user_id: 'user_43',
  name: 'usage_threshold_reached',
  properties: { meter: 'seats' },
};

const PLAIN_ACCEPTANCE = 'The record is stored on disk and waits to be processed.';
const EACH_RECORD =
  'Each record is checked alone: valid ones are stored, and each invalid one is listed once in `data.errors` by its place in the request.\nAn invalid record does not cause a 400, unless no valid request could have such a body.\n`accepted + rejected` is always `meta.received`.';
const FULL_QUEUE =
  'While 50,000 or more records of the project wait, the request is rejected with `backfill_queue_full`.\nA chunk that got 429 or 5xx can be sent again unchanged.';

export const OPERATION_TEXTS: Record<Endpoint, OperationText> = {
  users: {
    operationId: 'upsertUser',
    tag: 'Users',
    summary: 'Upsert a user',
    description:
      'Creates or updates a user.\n`external_user_id` is unique in the project.\nTraits are merged key by key, so send only changes.\nThe value null removes a key.',
    request: 'One user. Unknown fields are ignored.',
    response: 'Accepted',
    success: PLAIN_ACCEPTANCE,
    body: USER,
    invalid: { external_user_id: 'user_42', email: 'ada@localhost' },
  },
  'users-bulk': {
    operationId: 'upsertUsers',
    tag: 'Users',
    summary: 'Upsert up to 1,000 users',
    description: `Use it for backfills.\n${EACH_RECORD}\n\n${FULL_QUEUE}`,
    request: '1 to 1,000 users, each as in the single request.',
    response: 'BulkResult',
    success: 'The valid records are stored and wait to be processed.',
    body: { users: [USER, { external_user_id: 'user_43', traits: { plan: 'trial' } }] },
    partly: { users: [USER, { external_user_id: 'user_43', email: 'not an address' }] },
    invalid: { users: [] },
  },
  events: {
    operationId: 'trackEvent',
    tag: 'Events',
    summary: 'Track an event',
    description:
      'Records something that one user did, or that happened to them.\nThe user does not have to exist yet.\nSend it again with the same `Idempotency-Key` if you got no response.',
    request: 'One event. Unknown fields are ignored.',
    response: 'Accepted',
    success: PLAIN_ACCEPTANCE,
    body: EVENT,
    invalid: { external_user_id: 'user_42', properties: 'export' },
  },
  'events-batch': {
    operationId: 'trackEvents',
    tag: 'Events',
    summary: 'Track several events in one request',
    description:
      'Stores all events or none: one invalid event rejects the batch.\nWith `suppressTriggers: true` the events count as history: triggers are suppressed for their users until the next normal event.',
    request: '1 to 1,000 events, each as in the single request, and `suppressTriggers`.',
    response: 'BatchAccepted',
    success: 'All events are stored on disk and wait to be processed.',
    body: { events: [EVENT, TRIAL], suppressTriggers: false },
    invalid: { events: [EVENT, NO_PERCENT] },
  },
  'events-bulk': {
    operationId: 'importEvents',
    tag: 'Events',
    summary: 'Backfill up to 1,000 events',
    description: `Use it for history.\n${EACH_RECORD}\n\`suppressTriggers\` works as in a batch.\n\n${FULL_QUEUE}`,
    request: '1 to 1,000 events, each as in the single request, and `suppressTriggers`.',
    response: 'BulkResult',
    success: 'The valid records are stored and wait to be processed.',
    body: { events: [IMPORTED, TRIAL], suppressTriggers: true },
    partly: { events: [IMPORTED, NO_PERCENT], suppressTriggers: true },
    invalid: { events: 'none' },
  },
};

/** The time at which the examples are validated: an hour after the newest of their times. */
export const EXAMPLES_AT = Date.UTC(2026, 0, 15, 10, 30);
