import { expect, test } from 'vitest';
import { acceptsRecords } from '../../../../../testkit/cases/accepted.ts';
import { acceptsEventShapes, marksSuppressedEvents } from '../../../../../testkit/cases/event-shapes.ts';
import { replaysResponses } from '../../../../../testkit/cases/once.ts';
import { endpointServer, newCaller, twinOf } from '../../../../../testkit/endpoint-server.ts';
import { acceptance, bodyOf, EVENTS_BATCH, record } from '../../../../../testkit/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

acceptsRecords(server, EVENTS_BATCH);
replaysResponses(server, twin, EVENTS_BATCH);

acceptsEventShapes(server, EVENTS_BATCH);
marksSuppressedEvents(server, EVENTS_BATCH);

test('stores a thousand events of one request in the order of the list', async () => {
  const caller = await newCaller(server, EVENTS_BATCH);
  const many = Array.from({ length: 1_000 }, (_, i) => record(EVENTS_BATCH, { external_user_id: `u-${i}` }));
  const { status, json } = await caller.send({ body: bodyOf(EVENTS_BATCH, many) });
  expect([status, json]).toEqual([202, acceptance(EVENTS_BATCH, 1_000)]);
  expect(await caller.stored()).toMatchObject({ records: many, waiting: 1_000 });
});
