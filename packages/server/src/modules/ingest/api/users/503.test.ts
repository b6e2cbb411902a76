import { survivesOutages } from '../../../../../testkit/cases/unavailable.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { USERS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

survivesOutages(server, USERS);
