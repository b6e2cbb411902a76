import { limitsRates } from '../../../../../testkit/cases/limited.ts';
import { keepsTheQueueCap } from '../../../../../testkit/cases/queue-full.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

limitsRates(server, twin, EVENTS_BULK);
keepsTheQueueCap(server, twin, EVENTS_BULK);
