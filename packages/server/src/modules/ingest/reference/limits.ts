import * as limit from '@beckon/contract';
import { INGEST_ENDPOINTS } from '../api/endpoints.ts';
import type { LimitEntry, RateLimitEntry } from './openapi.ts';

const HOUR_MS = 3_600_000;

export function limitEntries(): LimitEntry[] {
  return [
    { name: 'Users or events in a bulk request', value: `1 to ${count(limit.BULK_INGEST_MAX_RECORDS)}` },
    { name: 'Events in a batch', value: `1 to ${count(limit.BATCH_MAX_EVENTS)}` },
    {
      name: 'Waiting records of a project, before bulk requests are rejected',
      value: count(limit.INGEST_QUEUE_MAX_RECORDS),
    },
    { name: 'Lifetime of an `Idempotency-Key`', value: `${limit.IDEMPOTENCY_WINDOW_MS / HOUR_MS} hours` },
    { name: 'Body of a single request, decompressed', value: bytes(limit.SINGLE_BODY_MAX_BYTES) },
    { name: 'Body of a batch or bulk request, decompressed', value: bytes(limit.MANY_BODY_MAX_BYTES) },
    { name: 'One record', value: bytes(limit.RECORD_MAX_BYTES) },
    { name: 'All traits of a user; the rest is left out', value: bytes(limit.TRAITS_MAX_CHARS) },
    { name: '`external_user_id`', value: chars(limit.EXTERNAL_USER_ID_MAX_CHARS) },
    {
      name: '`email`',
      value: `${limit.EMAIL_MAX_CHARS} characters, ${limit.EMAIL_LOCAL_MAX_CHARS} before the @`,
    },
    { name: '`name` of an event', value: chars(limit.EVENT_NAME_MAX_CHARS) },
    { name: '`message_id`', value: chars(limit.MESSAGE_ID_MAX_CHARS) },
    {
      name: '`occurred_at`',
      value: `${day(limit.OCCURRED_AT_MIN_MS)} to ${limit.OCCURRED_AT_SKEW_MS / HOUR_MS} hour from now`,
    },
    { name: '`Idempotency-Key`', value: `${chars(limit.IDEMPOTENCY_KEY_MAX_CHARS)} of visible ASCII` },
    { name: 'Depth of nested JSON', value: `${limit.JSON_MAX_DEPTH} levels` },
    { name: 'Keys of one JSON object', value: count(limit.JSON_MAX_OBJECT_KEYS) },
    { name: 'Items of one JSON array', value: count(limit.JSON_MAX_ARRAY_ITEMS) },
    { name: 'Length of one JSON key', value: `${limit.JSON_MAX_KEY_CHARS} characters` },
    { name: 'Length of one JSON number', value: `${count(limit.JSON_MAX_NUMBER_CHARS)} characters` },
    { name: 'Values of one record', value: count(limit.RECORD_MAX_VALUES) },
    { name: 'Values of a batch or bulk request', value: count(limit.REQUEST_MAX_VALUES) },
    {
      name: 'Numbers, booleans and nulls in the arrays of one request',
      value: count(limit.REQUEST_MAX_SCALAR_ITEMS),
    },
    { name: 'Errors in one response', value: count(limit.ERRORS_MAX) },
    { name: 'Active API keys of a project', value: count(limit.API_KEYS_MAX_ACTIVE) },
    { name: 'TLS', value: '1.2 or 1.3' },
  ];
}

/** Default rate limits. The operator of the server can set others for a project. */
export function rateLimitEntries(): RateLimitEntry[] {
  return INGEST_ENDPOINTS.map(({ name, path }) => ({ path, ...limit.RATE_LIMIT_DEFAULTS[name] }));
}

function count(n: number): string {
  return n.toLocaleString('en-US');
}

function chars(max: number): string {
  return `1 to ${max} characters`;
}

function bytes(n: number): string {
  const kib = n / 1024;
  return kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`;
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
