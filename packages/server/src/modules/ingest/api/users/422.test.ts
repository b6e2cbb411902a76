import { refusesFlawedRecords } from '../../../../../testkit/cases/flawed-records.ts';
import { refusesMalformedBodies } from '../../../../../testkit/cases/invalid.ts';
import { refusesReuse } from '../../../../../testkit/cases/reuse.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { USERS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

refusesMalformedBodies(server, USERS);
refusesFlawedRecords(server, USERS);
refusesReuse(server, twin, USERS);
