import { limitsRates } from '../../../../../testkit/cases/limited.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

limitsRates(server, twin, EVENTS);
