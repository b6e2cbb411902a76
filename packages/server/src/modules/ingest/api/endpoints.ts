import { eventsBatch } from './events-batch/route.ts';
import { eventsBulk } from './events-bulk/route.ts';
import { events } from './events/route.ts';
import type { IngestEndpoint } from './endpoint.ts';
import { usersBulk } from './users-bulk/route.ts';
import { users } from './users/route.ts';

/** All ingest endpoints. */
export const INGEST_ENDPOINTS: IngestEndpoint[] = [users, usersBulk, events, eventsBatch, eventsBulk];
