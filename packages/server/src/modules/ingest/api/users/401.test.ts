import { refusesRevokedKeys, refusesStrangers } from '../../../../../testkit/cases/keys-refused.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { USERS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

refusesStrangers(server, USERS);
refusesRevokedKeys(server, twin, USERS);
