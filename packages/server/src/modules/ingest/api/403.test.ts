import { describe } from 'vitest';
import { refusesSuspendedProjects } from '../../../../testkit/cases/suspended.ts';
import { endpointServer, twinOf } from '../../../../testkit/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => refusesSuspendedProjects(server, twin, facts));
