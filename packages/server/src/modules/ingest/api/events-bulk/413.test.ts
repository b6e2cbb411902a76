import { refusesLargeBodies } from '../../../../../testkit/cases/body-refused.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

refusesLargeBodies(server, EVENTS_BULK);
