import { describe } from 'vitest';
import { refusesOtherMethods } from '../../../../testkit/cases/elsewhere.ts';
import { endpointServer } from '../../../../testkit/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testkit/endpoints.ts';

const server = await endpointServer();

describe.each(ALL_ENDPOINTS)('$path', (facts) => refusesOtherMethods(server, facts));
