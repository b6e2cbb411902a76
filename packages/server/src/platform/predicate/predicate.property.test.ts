import fc from 'fast-check';
import { expect, test } from 'vitest';
import { condition, document, factsOf, NOW, person } from '../../../testing/oracles/predicates.ts';
import { evaluate, explain } from './evaluate.ts';
import { mentionsOf } from './mentions.ts';
import { parsePredicate } from './parse.ts';
import type { Predicate } from './predicate.ts';
import { sentenceOf } from './sentence.ts';

const DAY = 86_400_000;
/** Beyond all spans and moments of the generators. */
const FAR = [1, 60_000, 3_600_000, DAY, 8 * DAY, 40 * DAY, 400 * DAY].map((ms) => NOW + ms);

const predicateOf = (definition: object): Predicate => {
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.predicate;
};
const conditions = condition.map(predicateOf);
const predicates = document.map(predicateOf);
const timedPredicates = predicates.filter((predicate) => mentionsOf(predicate).timed);

test('never changes an answer before its `until`', () => {
  const seen = { holds: 0, fails: 0, timed: 0 };
  fc.assert(
    fc.property(
      timedPredicates,
      person,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (predicate, user, part) => {
        const { matches, until } = evaluate(predicate, factsOf(user, NOW));
        seen[matches ? 'holds' : 'fails'] += 1;
        if (until !== null) {
          seen.timed += 1;
          expect(until).toBeGreaterThan(NOW);
        }
        const between = [
          ...FAR,
          until === null ? NOW : Math.floor(NOW + (until - NOW) * part),
          (until ?? NOW + 1) - 1,
        ];
        for (const at of between) {
          if (until !== null && at >= until) continue;
          expect(evaluate(predicate, factsOf(user, at)).matches).toBe(matches);
        }
      },
    ),
    { numRuns: 3_000 },
  );

  expect(Math.min(seen.holds, seen.fails)).toBeGreaterThan(250);
  expect(seen.timed).toBeGreaterThan(250);
});

/** For the others `until` is only a possible change: two events can leave a window together, or add nothing to a sum. */
const isPrecise = (predicate: Predicate): boolean =>
  predicate.kind !== 'sum' && !(predicate.kind === 'count' && predicate.compare === 'exactly');

test('changes the answer of a single condition at its `until`', () => {
  let changes = 0;
  fc.assert(
    fc.property(
      conditions.filter((user) => isPrecise(user) && mentionsOf(user).timed),
      person,
      (predicate, user) => {
        const { matches, until } = evaluate(predicate, factsOf(user, NOW));
        if (until === null) return;
        changes += 1;
        expect(evaluate(predicate, factsOf(user, until)).matches).toBe(!matches);
      },
    ),
    { numRuns: 3_000 },
  );

  expect(changes).toBeGreaterThan(200);
});

test('returns no `until` for a predicate without time', () => {
  fc.assert(
    fc.property(predicates, person, (predicate, user) => {
      if (!mentionsOf(predicate).timed) expect(evaluate(predicate, factsOf(user, NOW)).until).toBeNull();
    }),
    { numRuns: 1_000 },
  );
});

test('reads only the facts that mentionsOf lists', () => {
  fc.assert(
    fc.property(predicates, person, (predicate, user) => {
      const mentions = mentionsOf(predicate);
      const facts = factsOf(user, NOW);
      const { email } = facts;
      evaluate(predicate, {
        now: NOW,
        get email() {
          expect(mentions.email).toBe(true);
          return email;
        },
        trait(key) {
          expect(mentions.traits).toContain(key);
          return facts.trait(key);
        },
        total(event) {
          expect(mentions.totals).toContain(event);
          expect(mentions.events).toContain(event);
          return facts.total(event);
        },
        nth(query) {
          expect(mentions.queries.get(query.key)).toEqual(query);
          expect(mentions.events).toContain(query.event);
          return facts.nth(query);
        },
        sum(query) {
          expect(mentions.queries.get(query.key)).toEqual(query);
          return facts.sum(query);
        },
        isMember(audienceId) {
          expect(mentions.audiences).toContain(audienceId);
          return facts.isMember(audienceId);
        },
      });
    }),
    { numRuns: 1_000 },
  );
});

test('an explanation has the result of evaluation, and its parts add up to it', () => {
  const addsUp = (predicate: Predicate, explanation: ReturnType<typeof explain>): void => {
    const conditions = explanation.conditions ?? [];
    if (predicate.kind === 'all') expect(explanation.holds).toBe(conditions.every(({ holds }) => holds));
    if (predicate.kind === 'any') expect(explanation.holds).toBe(conditions.some(({ holds }) => holds));
    if (predicate.kind === 'all' || predicate.kind === 'any') {
      for (const [i, part] of predicate.of.entries())
        addsUp(part, conditions[i] as (typeof conditions)[number]);
    }
    if (predicate.kind === 'not' && conditions[0]) expect(explanation.holds).toBe(!conditions[0].holds);
  };
  fc.assert(
    fc.property(predicates, person, (predicate, user) => {
      const facts = factsOf(user, NOW);
      const explanation = explain(predicate, facts, () => 'x');
      expect(explanation.holds).toBe(evaluate(predicate, facts).matches);
      expect(explanation.sentence).toBe(sentenceOf(predicate, () => 'x'));
      addsUp(predicate, explanation);
    }),
    { numRuns: 1_000 },
  );
});

test('parses any value to a predicate or to a list of errors with messages and places', () => {
  const keys = fc.constantFrom(
    'all',
    'any',
    'not',
    'trait',
    'event',
    'within',
    'where',
    'equals',
    'sum',
    '__proto__',
  );
  const key = fc.oneof(keys, fc.string());
  const { given } = fc.letrec((tie) => ({
    given: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.boolean(), fc.constant(null), document),
      fc.array(tie('given'), { maxLength: 3 }),
      fc.dictionary(key, tie('given'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(given, (value) => {
      const parsed = parsePredicate(value);
      if (parsed.ok) return;
      expect(parsed.faults.length).toBeGreaterThan(0);
      expect(parsed.faults.length).toBeLessThanOrEqual(20);
      for (const { message, field } of parsed.faults) {
        expect(message.startsWith(`${field ?? 'The definition'} `)).toBe(true);
        expect(message.isWellFormed()).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
});
