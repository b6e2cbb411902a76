import { describe } from 'vitest';
import { limitsRates } from '../../../../testkit/cases/limited.ts';
import { keepsTheQueueCap } from '../../../../testkit/cases/queue-full.ts';
import { endpointServer, twinOf } from '../../../../testkit/endpoint-server.ts';
import { ALL_ENDPOINTS, EVENTS_BULK, USERS_BULK } from '../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => limitsRates(server, twin, facts));

describe.each([USERS_BULK, EVENTS_BULK])('POST $path', (facts) => keepsTheQueueCap(server, twin, facts));
