import {
  refusesBadEnvelopes,
  refusesMalformedBodies,
  refusesWrongSuppressTriggers,
} from '../../../../../testkit/cases/invalid.ts';
import { endpointServer } from '../../../../../testkit/endpoint-server.ts';
import { EVENTS_BULK } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();

refusesMalformedBodies(server, EVENTS_BULK);
refusesBadEnvelopes(server, EVENTS_BULK);
refusesWrongSuppressTriggers(server, EVENTS_BULK);
