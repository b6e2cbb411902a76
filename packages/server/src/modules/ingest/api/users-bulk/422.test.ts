import { keyOrderCounts } from '../../../../../testkit/cases/key-order.ts';
import { refusesReuse } from '../../../../../testkit/cases/reuse.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { USERS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

refusesReuse(server, twin, USERS_BULK);

keyOrderCounts(server, USERS_BULK);
