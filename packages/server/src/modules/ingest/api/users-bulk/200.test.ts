import { acceptsRecords } from '../../../../../testkit/cases/accepted.ts';
import { replaysResponses } from '../../../../../testkit/cases/once.ts';
import { acceptsUserShapes } from '../../../../../testkit/cases/user-shapes.ts';
import { reportsEachRecord } from '../../../../../testkit/cases/bulk-results.ts';
import { endpointServer, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { USERS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

acceptsRecords(server, USERS_BULK);
replaysResponses(server, twin, USERS_BULK);
reportsEachRecord(server, USERS_BULK);

acceptsUserShapes(server, USERS_BULK);
