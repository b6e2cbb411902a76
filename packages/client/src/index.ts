/** The client of Beckon for servers: sends users and events, and verifies webhooks. No dependencies; requires Node 20 or later. */
export * from './event-types.ts';
export { Beckon, type ClockAdvance, type EventName, type Receipt, type User } from './beckon.ts';
export type {
  BulkChunk,
  BulkOptions,
  BulkProgress,
  BulkReport,
  EventsBulkOptions,
  Rejection,
} from './bulk-types.ts';
export {
  AuthError,
  BeckonError,
  IdempotencyError,
  NetworkError,
  QueueFullError,
  RateLimitError,
  ServerError,
  ValidationError,
} from './errors.ts';
export type { BatchingOptions, BatchOptions, BeckonOptions, RetryOptions, WriteOptions } from './options.ts';
export { VERSION } from './version.ts';
export { SignatureError, type SignatureProblem, type WebhookHeaders, webhooks } from './webhooks.ts';
export type { JsonObject, JsonValue, WebhookEvent, WebhookType } from '@beckon/contract';
