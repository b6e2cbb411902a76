import { describe } from 'vitest';
import { acceptsRecords } from '../../../../testkit/cases/accepted.ts';
import { reportsEachRecord } from '../../../../testkit/cases/bulk-results.ts';
import { acceptsEventShapes, marksSuppressedEvents } from '../../../../testkit/cases/event-shapes.ts';
import { replaysResponses } from '../../../../testkit/cases/once.ts';
import { acceptsUserShapes } from '../../../../testkit/cases/user-shapes.ts';
import { endpointServer, twinOf } from '../../../../testkit/endpoint-server.ts';
import { EVENTS_BULK, USERS_BULK } from '../../../../testkit/endpoints.ts';

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
