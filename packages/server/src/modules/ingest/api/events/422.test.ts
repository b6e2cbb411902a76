import { refusesFlawedRecords } from '../../../../../testkit/cases/flawed-records.ts';
import { refusesMalformedBodies } from '../../../../../testkit/cases/invalid.ts';
import { refusesReuse } from '../../../../../testkit/cases/reuse.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

refusesMalformedBodies(server, EVENTS);
refusesFlawedRecords(server, EVENTS);
refusesReuse(server, twin, EVENTS);
