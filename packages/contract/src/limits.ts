/** The limits of the public API. */
export const BULK_INGEST_MAX_RECORDS = 1_000;
export const BATCH_MAX_EVENTS = 1_000;
export const INGEST_QUEUE_MAX_RECORDS = 50_000;
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1_000;

export const SINGLE_BODY_MAX_BYTES = 256 * 1024;
export const MANY_BODY_MAX_BYTES = 10 * 1024 * 1024;
export const RECORD_MAX_BYTES = 64 * 1024;
/**
 * The limit of all stored traits of a user, as JSON. It is more than one record can hold, and a batch of a thousand users fits in memory.
 */
export const TRAITS_MAX_CHARS = 128 * 1024;

export const EXTERNAL_USER_ID_MAX_CHARS = 256;
export const EVENT_NAME_MAX_CHARS = 255;
export const MESSAGE_ID_MAX_CHARS = 255;
export const EMAIL_MAX_CHARS = 254;
export const EMAIL_LOCAL_MAX_CHARS = 64;
export const IDEMPOTENCY_KEY_MAX_CHARS = 255;

export const JSON_MAX_DEPTH = 10;
export const JSON_MAX_OBJECT_KEYS = 255;
export const JSON_MAX_ARRAY_ITEMS = 1_000;
export const JSON_MAX_KEY_CHARS = 255;
export const JSON_MAX_NUMBER_CHARS = 1_200;
/** Values of one record: object members, and the strings, objects and arrays in arrays. Other array items are not counted. */
export const RECORD_MAX_VALUES = 6_000;
/** Values of one batch or bulk request, all of its records together. */
export const REQUEST_MAX_VALUES = 300_000;
/** Numbers, booleans and nulls that are items of an array, in one request. */
export const REQUEST_MAX_SCALAR_ITEMS = 2_000_000;
export const ERRORS_MAX = 20;

export const OCCURRED_AT_MIN_MS = Date.UTC(2000, 0, 1);
export const OCCURRED_AT_SKEW_MS = 60 * 60 * 1_000;

export const API_KEYS_MAX_ACTIVE = 10;
export const API_KEY_PATTERN = /^sk_(live|test)_[A-Za-z0-9_-]{32,128}$/;

export const ENDPOINTS = ['users', 'users-bulk', 'events', 'events-batch', 'events-bulk'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Token buckets, in requests. */
export const RATE_LIMIT_DEFAULTS: Record<Endpoint, { rate: number; burst: number }> = {
  users: { rate: 1_000, burst: 2_000 },
  'users-bulk': { rate: 20, burst: 40 },
  events: { rate: 1_000, burst: 2_000 },
  'events-batch': { rate: 50, burst: 100 },
  'events-bulk': { rate: 20, burst: 40 },
};
