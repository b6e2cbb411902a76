import { describe, expect, test } from 'vitest';
import { acceptsRecords } from '../../../../testing/cases/endpoints/accepted.ts';
import {
  acceptsEventShapes,
  marksSuppressedEvents,
} from '../../../../testing/cases/endpoints/event-shapes.ts';
import { keepsOneKeyAcrossOrders } from '../../../../testing/cases/endpoints/key-order.ts';
import { replaysResponses } from '../../../../testing/cases/endpoints/idempotency.ts';
import { acceptsUserShapes } from '../../../../testing/cases/endpoints/user-shapes.ts';
import { endpointServer, newCaller, twinOf } from '../../../../testing/servers/endpoint-server.ts';
import {
  acceptance,
  bodyOf,
  EVENTS,
  EVENTS_BATCH,
  record,
  USERS,
} from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each([USERS, EVENTS, EVENTS_BATCH])('POST $path', (facts) => {
  acceptsRecords(server, facts);
  replaysResponses(server, twin, facts);
});

describe.each([USERS, EVENTS])('POST $path', (facts) => keepsOneKeyAcrossOrders(server, facts));

describe(`POST ${USERS.path}`, () => {
  acceptsUserShapes(server, USERS);

  test('accepts the same external_user_id again, and keeps the order', async () => {
    const caller = await newCaller(server, USERS);
    const plans = ['free', 'pro', 'free'];
    for (const plan of plans) await caller.send({ body: { external_user_id: 'u-1', traits: { plan } } });
    expect((await caller.stored()).records).toEqual(
      plans.map((plan) => ({ external_user_id: 'u-1', traits: { plan } })),
    );
  });
});

describe.each([EVENTS, EVENTS_BATCH])('POST $path', (facts) => acceptsEventShapes(server, facts));

describe(`POST ${EVENTS.path}`, () => {
  test('accepts missing properties, and stores an empty object', async () => {
    const caller = await newCaller(server, EVENTS);
    expect((await caller.send({ body: { external_user_id: 'u-1', name: 'n' } })).status).toBe(202);
    expect((await caller.stored()).records).toEqual([{ external_user_id: 'u-1', name: 'n', properties: {} }]);
  });

  test('ignores suppressTriggers of any type as an unknown field: it belongs to lists', async () => {
    const caller = await newCaller(server, EVENTS);
    for (const suppressTriggers of [true, 'yes', null])
      expect((await caller.send({ body: { ...bodyOf(EVENTS), suppressTriggers } })).status).toBe(202);
    expect((await caller.stored()).records).toEqual(Array(3).fill(record(EVENTS)));
  });
});

describe(`POST ${EVENTS_BATCH.path}`, () => {
  marksSuppressedEvents(server, EVENTS_BATCH);

  test('stores a thousand events of one request in the order of the list', async () => {
    const caller = await newCaller(server, EVENTS_BATCH);
    const many = Array.from({ length: 1_000 }, (_, i) =>
      record(EVENTS_BATCH, { external_user_id: `u-${i}` }),
    );
    const { status, json } = await caller.send({ body: bodyOf(EVENTS_BATCH, many) });
    expect([status, json]).toEqual([202, acceptance(EVENTS_BATCH, 1_000)]);
    expect(await caller.stored()).toMatchObject({ records: many, waiting: 1_000 });
  });
});
