import { describe } from 'vitest';
import { refusesOtherMedia } from '../../../../testing/cases/endpoints/body-refused.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => refusesOtherMedia(server, facts));
