import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  document,
  factsOf,
  NOW,
  type Person,
  person,
  type PersonEvent,
} from '../../../testing/oracles/predicates.ts';
import { directionsOf } from './mentions.ts';
import { evaluate } from './evaluate.ts';
import { parsePredicate } from './parse.ts';
import type { Predicate } from './predicate.ts';

const DAY = 86_400_000;

type Totals = Person['totals'];
function withEvent(totals: Totals, { name, occurredAt: at }: PersonEvent): Totals {
  const { count, firstAt, lastAt } = totals.get(name) ?? { count: 0, firstAt: at, lastAt: at };
  const more = { count: count + 1, firstAt: Math.min(firstAt, at), lastAt: Math.max(lastAt, at) };
  return new Map(totals).set(name, more);
}

function parsed(value: unknown): Predicate {
  const read = parsePredicate(value);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  return read.predicate;
}

test('an event changes an answer only in its stated direction, and a stored `until` stays valid', () => {
  let confirmed = 0;
  fc.assert(
    fc.property(document, person, person, (definition, user, otherUser) => {
      const predicate = parsed(definition);
      const directions = directionsOf(predicate);
      const more: PersonEvent | undefined = otherUser.events[0];
      if (!more) return;
      const before = evaluate(predicate, factsOf(user, NOW));
      const after = { ...user, events: [...user.events, more], totals: withEvent(user.totals, more) };
      const direction = directions.get(more.name);
      if (!direction) {
        expect(evaluate(predicate, factsOf(after, NOW))).toEqual(before);
        return;
      }
      const negative = direction.notNegative.some((property) => {
        const value: unknown = more.properties[property];
        return typeof value === 'number' && value < 0;
      });
      if (direction.trend === 'both' || negative) return;
      if (before.matches !== (direction.trend === 'up')) return;
      confirmed += 1;
      const until = Math.min(before.until ?? Infinity, NOW + 40 * DAY);
      for (const share of [0, 0.01, 0.2, 0.5, 0.8, 0.999]) {
        const then = Math.min(Math.floor(NOW + (until - NOW) * share), until - 1);
        expect(evaluate(predicate, factsOf(after, then)).matches).toBe(before.matches);
      }
    }),
    { numRuns: 20_000 },
  );
  // Without confirmed cases the test would show nothing.
  expect(confirmed).toBeGreaterThan(500);
});

test('allows both directions for conditions in both senses and for first and last times', () => {
  const of = (definition: object): object => Object.fromEntries(directionsOf(parsed(definition)));
  expect(of({ event: 'a' })).toMatchObject({ a: { trend: 'up' } });
  expect(of({ not: { event: 'a', within: '7d' } })).toMatchObject({ a: { trend: 'down' } });
  expect(of({ all: [{ event: 'a' }, { not: { event: 'a', within: '7d' } }] })).toMatchObject({
    a: { trend: 'both' },
  });
  expect(of({ event: 'a', exactly: 2 })).toMatchObject({ a: { trend: 'both' } });
  expect(of({ event: 'a', last: { in_last: '7d' } })).toMatchObject({ a: { trend: 'both' } });
  expect(of({ not: { event: 'a', sum: 'x', at_most: 3, within: '7d' } })).toEqual({
    a: { trend: 'up', notNegative: ['x'] },
  });
});
