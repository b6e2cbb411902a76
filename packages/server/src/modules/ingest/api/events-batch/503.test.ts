import { survivesOutages } from '../../../../../testkit/cases/unavailable.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BATCH } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

survivesOutages(server, EVENTS_BATCH);
