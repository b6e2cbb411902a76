import { describe } from 'vitest';
import { refusesOtherPaths } from '../../../../testkit/cases/elsewhere.ts';
import { endpointServer } from '../../../../testkit/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testkit/endpoints.ts';

const server = await endpointServer();

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => refusesOtherPaths(server, facts));
