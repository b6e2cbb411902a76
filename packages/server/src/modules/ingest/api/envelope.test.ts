import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEvent } from '../../../platform/records/record.ts';
import { runSteps } from '../../../platform/time/steps.ts';
import { readBatch, readBulk } from './envelope.ts';

const options = { now: Date.UTC(2026, 0, 15), checkStrings: true };
const record = fc.record(
  {
    external_user_id: fc.string({ minLength: 1, maxLength: 9, unit: 'grapheme-ascii' }),
    name: fc.constantFrom('a', 'b'),
    properties: fc.dictionary(fc.string({ maxLength: 5, unit: 'grapheme-ascii' }), fc.integer()),
    occurred_at: fc.constant('2026-01-01T00:00:00+01:00'),
    extra: fc.array(fc.boolean()),
  },
  { requiredKeys: ['external_user_id', 'name'] },
);

test('the compact text of a valid body is exactly what JSON.stringify makes of it', () => {
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 1, maxLength: 5 }),
      fc.dictionary(fc.constantFrom('x', 'y', 'suppressTriggers'), fc.boolean()),
      fc.boolean(),
      (events, more, eventsFirst) => {
        const sent = eventsFirst ? { events, ...more } : { ...more, events };
        const body = JSON.parse(JSON.stringify(sent)) as Record<string, unknown>;
        const batch = runSteps(readBatch(body, readEvent, options));
        const bulk = runSteps(readBulk(body, readEvent, { ...options, field: 'events' }));
        for (const read of [batch, bulk])
          expect(read.ok && read.compact?.join('')).toBe(JSON.stringify(body));
      },
    ),
  );
});

test('readBulk and readBatch yield after every eight records, and before they join them', () => {
  const events = Array.from({ length: 20 }, (_, n) => ({ external_user_id: `u${n}`, name: 'e' }));
  for (const steps of [
    readBatch({ events }, readEvent, options),
    readBulk({ events }, readEvent, { ...options, field: 'events' }),
  ]) {
    let yields = 0;
    while (!steps.next().done) yields += 1;
    expect(yields).toBe(3);
  }
});
