import { expect, test } from 'vitest';
import { acceptsRecords } from '../../../../../testkit/cases/accepted.ts';
import { keepsOneKeyAcrossOrders } from '../../../../../testkit/cases/key-order.ts';
import { replaysResponses } from '../../../../../testkit/cases/once.ts';
import { acceptsUserShapes } from '../../../../../testkit/cases/user-shapes.ts';
import { endpointServer, newCaller, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { USERS } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

acceptsRecords(server, USERS);
replaysResponses(server, twin, USERS);

acceptsUserShapes(server, USERS);
keepsOneKeyAcrossOrders(server, USERS);

test('accepts the same external_user_id again, and keeps the order', async () => {
  const caller = await newCaller(server, USERS);
  const plans = ['free', 'pro', 'free'];
  for (const plan of plans) await caller.send({ body: { external_user_id: 'u-1', traits: { plan } } });
  expect((await caller.stored()).records).toEqual(
    plans.map((plan) => ({ external_user_id: 'u-1', traits: { plan } })),
  );
});
