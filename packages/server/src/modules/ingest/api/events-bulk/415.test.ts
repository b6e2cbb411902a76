import { refusesOtherMedia } from '../../../../../testkit/cases/body-refused.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

refusesOtherMedia(server, EVENTS_BULK);
