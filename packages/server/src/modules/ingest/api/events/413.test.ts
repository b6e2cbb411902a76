import { refusesLargeBodies } from '../../../../../testkit/cases/body-refused.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

refusesLargeBodies(server, EVENTS);
