import { describe } from 'vitest';
import { refusesLargeBodies } from '../../../../testkit/cases/body-refused.ts';
import { endpointServer } from '../../../../testkit/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testkit/endpoints.ts';

const server = await endpointServer();

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => refusesLargeBodies(server, facts));
