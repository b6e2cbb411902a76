import { limitsRates } from '../../../../../testkit/cases/limited.ts';
import { keepsTheQueueCap } from '../../../../../testkit/cases/queue-full.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { USERS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

limitsRates(server, twin, USERS_BULK);
keepsTheQueueCap(server, twin, USERS_BULK);
