import { describe } from 'vitest';
import { refusesRevokedKeys, refusesStrangers } from '../../../../testkit/cases/keys-refused.ts';
import { endpointServer, twinOf } from '../../../../testkit/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => {
  refusesStrangers(server, facts);
  refusesRevokedKeys(server, twin, facts);
});
