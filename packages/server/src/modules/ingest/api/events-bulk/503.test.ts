import { survivesOutages } from '../../../../../testkit/cases/unavailable.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

survivesOutages(server, EVENTS_BULK);
