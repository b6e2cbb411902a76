import { describe } from 'vitest';
import { refusesOtherPaths } from '../../../../testing/cases/endpoints/other-paths.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => refusesOtherPaths(server, facts));
