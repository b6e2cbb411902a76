import { describe } from 'vitest';
import { acceptsRecords } from '../../../../testing/cases/endpoints/accepted.ts';
import { reportsEachRecord } from '../../../../testing/cases/endpoints/bulk-results.ts';
import {
  acceptsEventShapes,
  marksSuppressedEvents,
} from '../../../../testing/cases/endpoints/event-shapes.ts';
import { replaysResponses } from '../../../../testing/cases/endpoints/idempotency.ts';
import { acceptsUserShapes } from '../../../../testing/cases/endpoints/user-shapes.ts';
import { endpointServer, twinOf } from '../../../../testing/servers/endpoint-server.ts';
import { EVENTS_BULK, USERS_BULK } from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each([USERS_BULK, EVENTS_BULK])('POST $path', (facts) => {
  acceptsRecords(server, facts);
  replaysResponses(server, twin, facts);
  reportsEachRecord(server, facts);
});

describe(`POST ${USERS_BULK.path}`, () => acceptsUserShapes(server, USERS_BULK));

describe(`POST ${EVENTS_BULK.path}`, () => {
  acceptsEventShapes(server, EVENTS_BULK);
  marksSuppressedEvents(server, EVENTS_BULK);
});
