import { refusesRevokedKeys, refusesStrangers } from '../../../../../testkit/cases/keys-refused.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

refusesStrangers(server, EVENTS);
refusesRevokedKeys(server, twin, EVENTS);
