import { describe, expect, test } from 'vitest';
import { refusesFlawedRecords } from '../../../../testing/cases/endpoints/flawed-records.ts';
import {
  refusesBadEnvelopes,
  refusesMalformedBodies,
  refusesWrongSuppressTriggers,
} from '../../../../testing/cases/endpoints/invalid.ts';
import { keyOrderCounts } from '../../../../testing/cases/endpoints/key-order.ts';
import { refusesReuse } from '../../../../testing/cases/endpoints/key-reuse.ts';
import {
  endpointServer,
  newCaller,
  NOTHING_STORED,
  twinOf,
} from '../../../../testing/servers/endpoint-server.ts';
import {
  ALL_ENDPOINTS,
  bodyOf,
  EVENTS,
  EVENTS_BATCH,
  EVENTS_BULK,
  record,
  USERS,
  USERS_BULK,
} from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();
const twin = await twinOf(server);

describe.each([USERS, EVENTS, EVENTS_BATCH])('POST $path', (facts) => {
  refusesMalformedBodies(server, facts);
  refusesFlawedRecords(server, facts);
});

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => refusesReuse(server, twin, facts));

describe.each([EVENTS_BATCH, USERS_BULK, EVENTS_BULK])('POST $path', (facts) =>
  keyOrderCounts(server, facts),
);

describe(`POST ${EVENTS_BATCH.path}`, () => {
  refusesBadEnvelopes(server, EVENTS_BATCH);
  refusesWrongSuppressTriggers(server, EVENTS_BATCH);

  test('rejects a thousand events if one is invalid', async () => {
    const caller = await newCaller(server, EVENTS_BATCH);
    const many = Array.from({ length: 1_000 }, (_, i) => record(EVENTS_BATCH, i === 999 ? { name: '' } : {}));
    const { status, errors } = await caller.send({ body: bodyOf(EVENTS_BATCH, many), once: 'k' });
    expect([status, errors.map(({ field }) => field)]).toEqual([422, ['events.999.name']]);
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('names values that are not events by their index, twenty faults at most', async () => {
    const caller = await newCaller(server, EVENTS_BATCH);
    const { errors } = await caller.send({ body: bodyOf(EVENTS_BATCH, [record(EVENTS_BATCH), null, 7, []]) });
    expect(errors.map((error) => error.field)).toEqual(['events.1', 'events.2', 'events.3']);
    expect((await caller.send({ body: bodyOf(EVENTS_BATCH, Array(100).fill({})) })).errors).toHaveLength(20);
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });
});
