import { refusesOtherMedia } from '../../../../../testkit/cases/body-refused.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BATCH } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

refusesOtherMedia(server, EVENTS_BATCH);
