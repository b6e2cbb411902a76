import { describe } from 'vitest';
import { refusesRevokedKeys, refusesStrangers } from '../../../../testing/cases/endpoints/keys-refused.ts';
import { endpointServer, twinOf } from '../../../../testing/servers/endpoint-server.ts';
import { ALL_ENDPOINTS } from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => {
  refusesStrangers(server, facts);
  refusesRevokedKeys(server, twin, facts);
});
