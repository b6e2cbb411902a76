import { refusesOtherMethods } from '../../../../../testkit/cases/elsewhere.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { USERS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

refusesOtherMethods(server, USERS_BULK);
