import type { IngestEndpoint } from './endpoint.ts';
import { readBatch, readBulk, readSingle } from './envelope.ts';
import { readEvent, readUser } from '../../../platform/records/record.ts';

const users: IngestEndpoint = {
  name: 'users',
  path: '/api/v1/users',
  kind: 'single',
  stores: 'users',
  read: (body, options) => readSingle(body, readUser, options),
};

const usersBulk: IngestEndpoint = {
  name: 'users-bulk',
  path: '/api/v1/users/bulk',
  kind: 'bulk',
  stores: 'users',
  read: (body, options) => readBulk(body, readUser, { ...options, field: 'users' }),
};

const events: IngestEndpoint = {
  name: 'events',
  path: '/api/v1/events',
  kind: 'single',
  stores: 'events',
  read: (body, options) => readSingle(body, readEvent, options),
};

const eventsBatch: IngestEndpoint = {
  name: 'events-batch',
  path: '/api/v1/events/batch',
  kind: 'batch',
  stores: 'events',
  read: (body, options) => readBatch(body, readEvent, options),
};

const eventsBulk: IngestEndpoint = {
  name: 'events-bulk',
  path: '/api/v1/events/bulk',
  kind: 'bulk',
  stores: 'events',
  read: (body, options) => readBulk(body, readEvent, { ...options, field: 'events' }),
};

/** All ingest endpoints. */
export const INGEST_ENDPOINTS: IngestEndpoint[] = [users, usersBulk, events, eventsBatch, eventsBulk];
