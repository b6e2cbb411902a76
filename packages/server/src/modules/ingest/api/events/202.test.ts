import { expect, test } from 'vitest';
import { acceptsRecords } from '../../../../../testkit/cases/accepted.ts';
import { acceptsEventShapes } from '../../../../../testkit/cases/event-shapes.ts';
import { keepsOneKeyAcrossOrders } from '../../../../../testkit/cases/key-order.ts';
import { replaysResponses } from '../../../../../testkit/cases/once.ts';
import { endpointServer, newCaller, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { bodyOf, EVENTS, record } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

acceptsRecords(server, EVENTS);
replaysResponses(server, twin, EVENTS);

acceptsEventShapes(server, EVENTS);
keepsOneKeyAcrossOrders(server, EVENTS);

test('accepts missing properties, and stores an empty object', async () => {
  const caller = await newCaller(server, EVENTS);
  expect((await caller.send({ body: { external_user_id: 'u-1', name: 'n' } })).status).toBe(202);
  expect((await caller.stored()).records).toEqual([{ external_user_id: 'u-1', name: 'n', properties: {} }]);
});

test('rejects suppressTriggers as an unknown field, whatever its type: it belongs to lists', async () => {
  const caller = await newCaller(server, EVENTS);
  for (const suppressTriggers of [true, 'yes', null])
    expect((await caller.send({ body: { ...bodyOf(EVENTS), suppressTriggers } })).status).toBe(202);
  expect((await caller.stored()).records).toEqual(Array(3).fill(record(EVENTS)));
});
