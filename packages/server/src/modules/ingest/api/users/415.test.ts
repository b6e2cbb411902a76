import { refusesOtherMedia } from '../../../../../testkit/cases/body-refused.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { USERS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

refusesOtherMedia(server, USERS);
