import fc from 'fast-check';
import { testValue } from '../../src/platform/predicate/compare.ts';
import type { Facts, EventWindow } from '../../src/platform/predicate/predicate.ts';

/**
 * Generates random users and predicates from pools so small that they often match. `factsOf` computes facts from the events themselves, in
 * the plainest way.
 */
export const NOW = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Half of the spans in predicates are about one of these, to the millisecond before and after. */
const DISTANCES = [1, 60_000, HOUR, DAY, 7 * DAY, 30 * DAY].flatMap((ms) => [ms - 1, ms, ms + 1]);
const SPANS = ['1m', '1h', '24h', '7d', '30d'];
const distance = fc.constantFrom(0, ...DISTANCES, ...DISTANCES.map((ms) => -ms));
export const moment = distance.map((ms) => NOW + ms);

/** One moment in several of its valid notations. */
const momentText = fc
  .tuple(
    moment,
    fc.constantFrom<(ms: number) => string>(
      (ms) => new Date(ms).toISOString(),
      (ms) => new Date(ms).toISOString().slice(0, 10),
      (ms) => new Date(ms + 2 * HOUR).toISOString().replace('Z', '+02:00'),
      (ms) => new Date(ms).toISOString().toLowerCase(),
      (ms) => String(ms),
    ),
  )
  .map(([ms, print]) => print(ms));

const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'aba',
  'é',
  'e\u0301',
  '😀',
  'a😀',
  '\u{FFFD}',
  "o'b",
  '%',
  '_',
  '\\',
  '"',
  '1',
];
const NUMBERS = [-1.5, -0.25, 0, 0.25, 1, 2, 100];
const ODD_NUMBERS = [0.1, 0.1 + 0.2, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 1e21, 2 ** 53];
/** The usual type of each trait, which most tests use. Every type of value occurs under every key, and so does every test. */
const TRAITS = {
  name: 'text',
  plan: 'text',
  signupDate: 'moment',
  company: 'list',
  role: 'number',
  tags: 'list',
  score: 'number',
  ['__proto__']: 'moment',
  constructor: 'text',
  "'é\\": 'moment',
} as const;
type TraitKind = (typeof TRAITS)[keyof typeof TRAITS];
const traitKeys = Object.keys(TRAITS) as (keyof typeof TRAITS)[];
const EVENTS = ['login', 'feature_used', "o'pen", '__proto__'];
const PROPERTIES = ['amount', 'feature', 'at', '__proto__'];
const AUDIENCES = ['1', '2', '3'].map((digit) => `00000000-0000-7000-8000-00000000000${digit}`);
/** The third audience has no version. */
export const VERSION_IDS = new Map(AUDIENCES.slice(0, 2).map((id, i) => [id, 11 + i]));

const text = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...TEXTS) }, momentText);
const number = fc.constantFrom(...NUMBERS, ...ODD_NUMBERS);
const scalar = fc.oneof(text, number, fc.boolean());
const list = fc.array(fc.oneof(scalar, fc.constant(null), fc.constant([1, 'a'])), { maxLength: 6 });
const value = fc.oneof(
  { weight: 6, arbitrary: scalar as fc.Arbitrary<unknown> },
  fc.constant(null),
  list,
  fc.constantFrom({}, { a: null }, { a: 'b' }),
);
const VALUES: Record<TraitKind, fc.Arbitrary<unknown>> = { text, moment: momentText, list, number };
const traits = fc
  .tuple(
    ...traitKeys.map((key) =>
      fc.option(
        fc
          .oneof({ weight: 3, arbitrary: VALUES[TRAITS[key]] }, value)
          .map((sample) => [key, sample] as const),
        { freq: 3 },
      ),
    ),
  )
  .map((entries): Record<string, unknown> => Object.fromEntries(entries.filter((entry) => entry !== null)));
/** Makes sums equal in any order of addition. */
const evenValue = value.map((sample) =>
  typeof sample === 'number' && ODD_NUMBERS.includes(sample) ? 0.5 : sample,
);
const email = fc.constantFrom('ann@acme.com', 'Ann@acme.com', 'bob@acme.com.au', 'é@exämple.com');

type Total = { count: number; firstAt: number; lastAt: number };
export type PersonEvent = {
  name: string;
  occurredAt: number;
  receivedAt: number;
  properties: Record<string, unknown>;
};
export type Person = {
  traits: Record<string, unknown>;
  email: string | null;
  events: PersonEvent[];
  totals: Map<string, Total>;
  versionIds: number[];
};

const event: fc.Arbitrary<PersonEvent> = fc
  .record({
    name: fc.constantFrom(...EVENTS),
    occurredAt: moment.map((at) => Math.min(at, NOW + HOUR)),
    lateMs: fc.constantFrom(-HOUR, 0, 1, DAY, 20 * DAY),
    properties: fc.dictionary(fc.constantFrom(...PROPERTIES), evenValue, { maxKeys: 3 }),
  })
  .map(({ lateMs, ...rest }) => ({ ...rest, receivedAt: rest.occurredAt + lateMs }));

/** The rows of some events are deleted, and only their count is left. */
const gone = fc.record({
  name: fc.constantFrom(...EVENTS),
  count: fc.integer({ min: 1, max: 3 }),
  at: moment,
});

export const person: fc.Arbitrary<Person> = fc
  .record({
    traits,
    email: fc.option(email),
    events: fc.array(event, { maxLength: 14, size: 'max' }),
    gone: fc.array(gone, { maxLength: 1 }),
    versionIds: fc.subarray([11, 12, 13]),
  })
  .map(({ gone: lost, ...rest }) => ({ ...rest, totals: totalsOf(rest.events, lost) }));

function totalsOf(events: PersonEvent[], lost: { name: string; count: number; at: number }[]) {
  const totals = new Map<string, Total>();
  const add = (name: string, at: number, count: number): void => {
    const { count: before, firstAt, lastAt } = totals.get(name) ?? { count: 0, firstAt: at, lastAt: at };
    totals.set(name, {
      count: before + count,
      firstAt: Math.min(firstAt, at),
      lastAt: Math.max(lastAt, at),
    });
  };
  for (const { name, occurredAt } of events) add(name, occurredAt, 1);
  for (const { name, at, count } of lost) add(name, at, count);
  return totals;
}

export function factsOf(person: Person, now: number): Facts {
  const inWindow = (name: string, { withinMs, where }: EventWindow): PersonEvent[] =>
    person.events
      .filter((e) => e.name === name && e.occurredAt > now - withinMs)
      .filter((e) =>
        where.every(({ property, test }) => testValue(test, readOwn(e.properties, property), now).matches),
      )
      .toSorted((a, b) => b.occurredAt - a.occurredAt);
  return {
    now,
    email: person.email,
    trait: (key) => readOwn(person.traits, key),
    total: (name) => person.totals.get(name),
    nth: ({ event: name, window, nth }) => inWindow(name, window)[nth - 1]?.occurredAt ?? null,
    sum({ event: name, window, property }) {
      const counted = inWindow(name, window).filter(
        (e) => typeof readOwn(e.properties, property) === 'number',
      );
      return {
        sum: counted.reduce((sum, e) => sum + Number(readOwn(e.properties, property)), 0),
        oldestAt: counted.at(-1)?.occurredAt ?? null,
      };
    },
    isMember: (audienceId) => person.versionIds.includes(VERSION_IDS.get(audienceId) ?? 0),
  };
}

function readOwn(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

const op = (key: string, operand: fc.Arbitrary<unknown>): fc.Arbitrary<object> =>
  operand.map((sample) => ({ [key]: sample }));
const ops = (keys: string[], operand: fc.Arbitrary<unknown>): fc.Arbitrary<object> =>
  fc.constantFrom(...keys).chain((key) => op(key, operand));

const subject = (fixed: object, test: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  test.map((fields) => ({ ...fixed, ...fields }));

const textTest = fc.oneof(
  op('is_set', fc.constant(true)),
  ops(['contains', 'starts_with', 'ends_with'], fc.constantFrom(...TEXTS)),
);
const compareTest = ops(['at_least', 'at_most', 'greater_than', 'less_than'], number);
const fixedTest = ops(
  ['before', 'after'],
  momentText.filter((text) => text.includes('-') && text.length > 4),
);
const pastTest = fc.oneof(fixedTest, ops(['in_last', 'more_than_ago'], fc.constantFrom(...SPANS)));
const propertyTest = fc.oneof(
  textTest,
  compareTest,
  fixedTest,
  ops(['equals', 'includes'], scalar),
  op('one_of', fc.array(fc.oneof(text, number), { minLength: 1, maxLength: 6 })),
);
const momentTest = fc.oneof(pastTest, ops(['in_next', 'more_than_ahead'], fc.constantFrom(...SPANS)));
const TESTS: Record<TraitKind, fc.Arbitrary<object>> = {
  text: fc.oneof(textTest, ops(['equals'], text)),
  moment: momentTest,
  list: op('includes', scalar),
  number: compareTest,
};
const traitCondition = fc
  .constantFrom(...traitKeys)
  .chain((trait) =>
    subject({ trait }, fc.oneof({ weight: 4, arbitrary: TESTS[TRAITS[trait]] }, propertyTest, momentTest)),
  );
const emailTest = fc.oneof(
  textTest,
  op('equals', email),
  op('one_of', fc.array(email, { minLength: 1, maxLength: 3 })),
  ops(['contains', 'starts_with', 'ends_with'], fc.constantFrom('ann', 'Ann', 'ä', '@acme.com', '.au')),
);

const within = fc.constantFrom(...SPANS);
const where = fc.array(
  fc.constantFrom(...PROPERTIES).chain((property) => subject({ property }, propertyTest)),
  { maxLength: 2 },
);
const window = fc.oneof(fc.record({ within }), fc.record({ within, where }));
const count = fc.oneof(
  fc.constant({}),
  op('at_least', fc.integer({ min: 1, max: 4 })),
  ops(['at_most', 'exactly'], fc.integer({ min: 0, max: 3 })),
);
const eventTest = fc.oneof(
  count,
  fc.tuple(count, window).map(([a, b]) => ({ ...a, ...b })),
  fc
    .tuple(
      ops(['at_least', 'at_most', 'greater_than', 'less_than'], fc.constantFrom(...NUMBERS)),
      fc.constantFrom(...PROPERTIES),
      window,
    )
    .map(([compare, sum, span]) => ({ sum, ...compare, ...span })),
  ops(['first', 'last'], pastTest),
);

export const condition: fc.Arbitrary<object> = fc.oneof(
  { weight: 4, arbitrary: traitCondition },
  subject({ user: 'email' }, emailTest),
  { weight: 4, arbitrary: fc.constantFrom(...EVENTS).chain((name) => subject({ event: name }, eventTest)) },
  fc.record({ audience: fc.constantFrom(...AUDIENCES) }),
);

/** A document that `parsePredicate` accepts. */
export const document: fc.Arbitrary<object> = fc.letrec<{ node: object }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 3, arbitrary: condition },
    ops(['all', 'any'], fc.array(tie('node'), { minLength: 1, maxLength: 3 })),
    op('not', tie('node')),
  ),
})).node;
