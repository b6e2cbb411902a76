import { describe } from 'vitest';
import { limitsRates } from '../../../../testing/cases/endpoints/rate-limits.ts';
import { keepsTheQueueCap } from '../../../../testing/cases/endpoints/queue-full.ts';
import { endpointServer, twinOf } from '../../../../testing/servers/endpoint-server.ts';
import { ALL_ENDPOINTS, EVENTS_BULK, USERS_BULK } from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => limitsRates(server, twin, facts));

describe.each([USERS_BULK, EVENTS_BULK])('POST $path', (facts) => keepsTheQueueCap(server, twin, facts));
