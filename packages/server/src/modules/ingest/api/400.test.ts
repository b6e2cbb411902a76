import { describe } from 'vitest';
import {
  refusesBadEnvelopes,
  refusesMalformedBodies,
  refusesWrongSuppressTriggers,
} from '../../../../testing/cases/endpoints/invalid.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { EVENTS_BULK, USERS_BULK } from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();

describe.each([USERS_BULK, EVENTS_BULK])('POST $path', (facts) => {
  refusesMalformedBodies(server, facts);
  refusesBadEnvelopes(server, facts);
});

describe(`POST ${EVENTS_BULK.path}`, () => refusesWrongSuppressTriggers(server, EVENTS_BULK));
