import { expect, test } from 'vitest';
import { acceptance, bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller } from '../../servers/endpoint-server.ts';

/** Tests the accepted forms of an event at any endpoint. */
export function acceptsEventShapes(server: EndpointServer, facts: Facts): void {
  test.each([
    ' Report shared ',
    'x'.repeat(255),
    '👩'.repeat(255),
    'constructor',
    '__proto__',
    'Trial_Started',
    '名',
  ])('a custom name is kept as it is: %s', async (name) => {
    const caller = await newCaller(server, facts);
    expect((await caller.send({ body: bodyOf(facts, [record(facts, { name })]) })).json).toEqual(
      acceptance(facts),
    );
    expect((await caller.stored()).records).toEqual([record(facts, { name })]);
  });

  test.each([
    ['trial_started', { trialDays: 14, anything: null }],
    ['trial_started', {}],
    ['trial_expiring', { trialDays: 3 }],
    ['trial_expiring', { daysLeft: '3' }],
    ['trial_expiring', {}],
    ['usage_threshold_reached', { usagePercent: 80.5, meter: 'seats', limit: 10 }],
    ['user_signed_up', { plan: 'free' }],
  ])('%s takes %o', async (name, properties) => {
    const caller = await newCaller(server, facts);
    const event = record(facts, { name, properties });
    expect((await caller.send({ body: bodyOf(facts, [event]) })).json).toEqual(acceptance(facts));
    expect((await caller.stored()).records).toEqual([event]);
  });

  test('occurred_at is stored in UTC with milliseconds, whatever its offset; message_id as it is', async () => {
    const caller = await newCaller(server, facts);
    const times = {
      '2026-01-02T03:04:05Z': '2026-01-02T03:04:05.000Z',
      '2026-01-02T03:04:05.6789+05:30': '2026-01-01T21:34:05.678Z',
      '2000-01-01T00:00:00.000Z': '2000-01-01T00:00:00.000Z',
      '1999-12-31T23:00:00-01:00': '2000-01-01T00:00:00.000Z',
    };
    for (const [occurred_at, stored] of Object.entries(times)) {
      const body = bodyOf(facts, [record(facts, { occurred_at, message_id: 'M'.repeat(255) })]);
      expect([occurred_at, (await caller.send({ body })).json]).toEqual([occurred_at, acceptance(facts)]);
      const last = (await caller.stored()).records.at(-1);
      expect(last).toEqual(record(facts, { occurred_at: stored, message_id: 'M'.repeat(255) }));
    }
  });

  test('an event may lie an hour ahead, and not a millisecond more', async () => {
    const caller = await newCaller(server, facts);
    const at = (ms: number) => new Date(server.clock.now() + 3_600_000 + ms).toISOString();
    const response = await caller.send({ body: bodyOf(facts, [record(facts, { occurred_at: at(0) })]) });
    expect(response.json).toEqual(acceptance(facts));
    await caller.send({ body: bodyOf(facts, [record(facts, { occurred_at: at(1) })]) });
    expect((await caller.stored()).waiting).toBe(1);
  });

  test('accepts an event of a user that was never sent', async () => {
    const caller = await newCaller(server, facts);
    const body = bodyOf(facts, [record(facts, { external_user_id: 'unknown-yet' })]);
    expect((await caller.send({ body })).json).toEqual(acceptance(facts));
  });
}

/** Tests `suppressTriggers` at endpoints that take events in lists. */
export function marksSuppressedEvents(server: EndpointServer, facts: Facts): void {
  test('suppressTriggers marks every stored event of the list; false and absent mark none', async () => {
    const caller = await newCaller(server, facts);
    const two = bodyOf(facts, [record(facts), record(facts, { external_user_id: 'u-2' })]);
    for (const more of [{ suppressTriggers: true }, { suppressTriggers: false }, {}])
      expect((await caller.send({ body: { ...two, ...more } })).json).toEqual(acceptance(facts, 2));
    const stored = (await caller.stored()).records as { suppress?: boolean }[];
    expect(stored.map((event) => event.suppress)).toEqual([
      true,
      true,
      ...Array<undefined>(4).fill(undefined),
    ]);
  });

  test('suppressTriggers inside an event is an unknown field, and a sent `suppress` is never stored', async () => {
    const caller = await newCaller(server, facts);
    const body = bodyOf(facts, [record(facts, { suppressTriggers: true, suppress: true })]);
    expect((await caller.send({ body: { ...body, suppress: true } })).json).toEqual(acceptance(facts));
    expect((await caller.stored()).records).toEqual([record(facts)]);
  });
}
