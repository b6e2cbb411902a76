import { refusesRevokedKeys, refusesStrangers } from '../../../../../testkit/cases/keys-refused.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

refusesStrangers(server, EVENTS_BULK);
refusesRevokedKeys(server, twin, EVENTS_BULK);
