import { refusesBadEnvelopes, refusesMalformedBodies } from '../../../../../testkit/cases/invalid.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { USERS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

refusesMalformedBodies(server, USERS_BULK);
refusesBadEnvelopes(server, USERS_BULK);
