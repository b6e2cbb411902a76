import { refusesSuspendedProjects } from '../../../../../testkit/cases/suspended.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

refusesSuspendedProjects(server, twin, EVENTS);
