import fc from 'fast-check';
import { expect, test } from 'vitest';
import { condition } from '../../../../testing/oracles/predicates.ts';
import { parsePredicate } from '../../../platform/predicate/parse.ts';
import type { Predicate, PropertyTest } from '../../../platform/predicate/predicate.ts';
import { documentOf } from './print.ts';
import { parseDefinition, parseRule } from './parse.ts';
import { ruleSentence } from './sentence.ts';
import type { Definition, EnrollmentLimit, Step, Trigger } from './rule.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

const predicates: fc.Arbitrary<Predicate> = condition.map((document) => {
  const parsed = parsePredicate({ not: document });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.predicate;
});
const span = fc.oneof(
  fc.constantFrom(MINUTE, 90_000, DAY, 366 * DAY),
  fc.integer({ min: 1, max: 366 }).map((n) => n * DAY),
);
const event: fc.Arbitrary<string> = fc.constantFrom('login', 'user_signed_up', '__proto__', 'é', 'a b');
const property: fc.Arbitrary<string> = fc.constantFrom('amount', 'plan', 'constructor', '__proto__');
const propertyTest: fc.Arbitrary<PropertyTest> = fc.record({
  property,
  test: fc.oneof(
    fc.record({ op: fc.constant('is_set' as const) }),
    fc.record({
      op: fc.constantFrom('equals' as const, 'includes' as const),
      value: fc.constantFrom('a', 1.5, true),
    }),
    fc.record({ op: fc.constant('at_least' as const), than: fc.constantFrom(-1, 0, 80, 1e21) }),
    fc.record({ op: fc.constant('before' as const), at: fc.constantFrom(0, 1_700_000_000_123) }),
  ),
});
const where = fc.array(propertyTest, { maxLength: 2 });
const names = (min: number, name = event): fc.Arbitrary<string[]> =>
  fc.uniqueArray(name, { minLength: min, maxLength: 3 });
const id = fc.uuid().map((value) => value.toLowerCase());
const side = fc.constantFrom('before' as const, 'after' as const);

const trigger: fc.Arbitrary<Trigger> = fc.oneof(
  fc.record({ kind: fc.constant('event' as const), event, where, endsInDays: fc.option(property) }),
  fc.record({
    kind: fc.constant('audience' as const),
    audienceId: id,
    move: fc.constantFrom('joined' as const, 'left' as const),
  }),
  fc
    .record({
      kind: fc.constant('relative' as const),
      event,
      where,
      plusDays: fc.option(property),
      side,
      ms: span,
    })
    .map((value) => ({ ...value, side: value.plusDays === null ? 'after' : value.side })),
  fc.record({ kind: fc.constant('date' as const), trait: property, side, ms: span }),
  fc.record({ kind: fc.constant('absence' as const), since: event, where, of: names(1), ms: span }),
);

const entry: fc.Arbitrary<EnrollmentLimit> = fc.oneof(
  fc.constantFrom<EnrollmentLimit>({ kind: 'once' }, { kind: 'one_at_a_time' }),
  fc.record({ kind: fc.constant('once_per' as const), properties: names(1, property) }),
  fc.record({ kind: fc.constant('once_per_about' as const), otherwiseMs: span }),
  fc.record({
    kind: fc.constant('cooldown' as const),
    ms: span,
    properties: names(0, property),
    again: fc.option(propertyTest),
  }),
);

const line = fc.constantFrom('Hello', ' “Grüße” ', 'x'.repeat(200));
const draft: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('draft' as const),
  email: fc.oneof(
    fc.record({ name: fc.constantFrom('welcome', 'an email', '__proto__') }),
    fc.record({
      subject: line,
      preheader: fc.oneof(fc.constant(''), line),
      body: fc.constantFrom('a\n\n b', 'x'.repeat(50_000)),
    }),
  ),
});
const plainStep: fc.Arbitrary<Step> = fc.oneof(
  draft,
  fc.record({ kind: fc.constant('wait' as const), ms: span }),
  fc.record({
    kind: fc.constant('wait_until' as const),
    weekdays: fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
    at: fc.constantFrom('00:00', '09:30', '23:59'),
  }),
);
const END: Step = { kind: 'end' };

function stepLists(depth: number): fc.Arbitrary<Step[]> {
  const inner = depth === 5 ? null : stepLists(depth + 1);
  const step: fc.Arbitrary<Step> =
    inner === null
      ? plainStep
      : fc.oneof(
          { weight: 3, arbitrary: plainStep },
          fc.record({ kind: fc.constant('branch' as const), if: predicates, then: inner, otherwise: inner }),
          fc.record({
            kind: fc.constant('wait_for' as const),
            event,
            where,
            timeoutMs: span,
            then: inner,
            otherwise: inner,
          }),
        );
  return fc
    .tuple(fc.array(step, { maxLength: 2 }), fc.boolean())
    .map(([steps, ends]) => (ends ? [...steps, END] : steps));
}

function countOf(steps: Step[]): number {
  return steps.reduce(
    (sum, step) => sum + 1 + ('then' in step ? countOf(step.then) + countOf(step.otherwise) : 0),
    0,
  );
}

const definitions: fc.Arbitrary<Definition> = fc
  .record({
    when: fc.array(trigger, { minLength: 1, maxLength: 3 }),
    about: fc.option(fc.record({ event: fc.constant('trial_started'), until: names(0) })),
    onlyIf: fc.option(predicates),
    entry,
    exits: fc.record({ events: names(0), when: fc.option(predicates), onReply: fc.boolean() }),
    goal: fc.option(predicates),
    maxEventAgeMs: span,
    priority: fc.integer({ min: 0, max: 1_000 }),
    holdoutPercent: fc.integer({ min: 0, max: 50 }),
    counts: fc.boolean(),
    topic: fc.option(fc.constantFrom('news', 'tips-2', 'a_b')),
    tracking: fc.boolean(),
    expiresAfterMs: span,
    steps: fc.tuple(draft, stepLists(1)).map(([first, rest]) => [first, ...rest]),
  })
  .filter(({ entry: { kind }, about }) => kind !== 'once_per_about' || about !== null)
  .filter(({ steps }) => countOf(steps) <= 50);

test('reads a stored definition back unchanged and stores it unchanged', () => {
  let deep = 0;
  fc.assert(
    fc.property(definitions, (definition) => {
      deep += countOf(definition.steps) > definition.steps.length ? 1 : 0;
      const stored = JSON.stringify(documentOf(definition));
      const read = parseDefinition(JSON.parse(stored));
      expect(read).toEqual(definition);
      expect(JSON.stringify(documentOf(read))).toBe(stored);
    }),
    { numRuns: 1_000 },
  );
  expect(deep).toBeGreaterThan(100);
});

test('describes every rule in a sentence', () => {
  fc.assert(
    fc.property(definitions, (definition) => {
      const sentence = ruleSentence(definition, () => undefined);
      expect(sentence).toMatch(/^\S.*\.$/);
      expect(sentence).not.toMatch(/undefined|null|NaN|\[object/);
    }),
    { numRuns: 500 },
  );
});

test('parses any value into a rule or a list of errors with fields and messages', () => {
  const junk = fc.oneof(
    fc.string(),
    fc.double(),
    fc.constant(null),
    fc.constant([]),
    fc.constant({}),
    fc.boolean(),
  );
  const spoilt = definitions.chain((definition) => {
    const document: unknown = JSON.parse(JSON.stringify({ name: 'x', ...documentOf(definition) }));
    return fc
      .constantFrom(...pathsOf(document))
      .chain((path) => junk.map((value) => replaced(document, path, value)));
  });
  const seen = { ok: 0, refused: 0 };
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: spoilt }, junk), (document) => {
      const parsed = parseRule(document);
      seen[parsed.ok ? 'ok' : 'refused'] += 1;
      if (parsed.ok) return;
      expect(parsed.faults.length).toBeGreaterThan(0);
      expect(parsed.faults.length).toBeLessThanOrEqual(20);
      for (const { message, field } of parsed.faults) {
        expect(message.startsWith(`${field ?? 'The rule'} `)).toBe(true);
        expect(message).not.toContain('predicate');
      }
    }),
    { numRuns: 2_000 },
  );
  expect(seen.refused).toBeGreaterThan(500);
});

type Path = (string | number)[];

function pathsOf(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [
    [],
    ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner).map((path) => [key, ...path])),
  ];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: unknown, i) => (String(i) === key ? replaced(item, rest, by) : item));
  const object = value as Record<string, unknown>;
  return { ...object, [key]: replaced(object[key], rest, by) };
}
