import { describe } from 'vitest';
import { refusesSuspendedProjects } from '../../../../testing/cases/endpoints/suspended.ts';
import { endpointServer, twinOf } from '../../../../testing/servers/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => refusesSuspendedProjects(server, twin, facts));
