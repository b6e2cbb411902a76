import { acceptsRecords } from '../../../../../testkit/cases/accepted.ts';
import { acceptsEventShapes, marksSuppressedEvents } from '../../../../../testkit/cases/event-shapes.ts';
import { replaysResponses } from '../../../../../testkit/cases/once.ts';
import { reportsEachRecord } from '../../../../../testkit/cases/bulk-results.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

acceptsRecords(server, EVENTS_BULK);
replaysResponses(server, twin, EVENTS_BULK);
reportsEachRecord(server, EVENTS_BULK);

acceptsEventShapes(server, EVENTS_BULK);
marksSuppressedEvents(server, EVENTS_BULK);
