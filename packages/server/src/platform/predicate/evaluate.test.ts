import { expect, test } from 'vitest';
import type { PredicateResult, Facts, Predicate } from './predicate.ts';
import { evaluate, explain } from './evaluate.ts';
import { mentionsOf } from './mentions.ts';
import { parsePredicate } from './parse.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const BARE: Facts = {
  now: NOW,
  email: null,
  trait: () => undefined,
  total: () => undefined,
  nth: () => null,
  sum: () => ({ sum: 0, oldestAt: null }),
  isMember: () => false,
};

function parse(definition: unknown): Predicate {
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.predicate;
}

function evaluateDefinition(definition: unknown, facts: Partial<Facts> = {}): PredicateResult {
  return evaluate(parse(definition), { ...BARE, ...facts });
}

const at = (matches: boolean, until: number | null): PredicateResult => ({ matches, until });
const trait = (value: unknown): Partial<Facts> => ({ trait: () => value });
const text = (ms: number): string => new Date(ms).toISOString();

test.each<[string, { value: unknown; operator: object; holds: boolean }]>([
  ['a text is no number', { value: '5', operator: { equals: 5 }, holds: false }],
  ['a number is no text', { value: 5, operator: { equals: '5' }, holds: false }],
  ['true is no text', { value: true, operator: { equals: 'true' }, holds: false }],
  ['a text is compared with no number', { value: '5', operator: { at_least: 1 }, holds: false }],
  ['case is told apart', { value: 'Trial', operator: { equals: 'trial' }, holds: false }],
  ['every text contains the empty one', { value: '', operator: { contains: '' }, holds: true }],
  ['an empty text is set', { value: '', operator: { is_set: true }, holds: true }],
  ['false is set', { value: false, operator: { is_set: true }, holds: true }],
  ['null is not', { value: null, operator: { is_set: true }, holds: false }],
  ['nothing is not', { value: undefined, operator: { is_set: true }, holds: false }],
  ['a list includes its element', { value: ['a', 1], operator: { includes: 1 }, holds: true }],
  ['but not a text of the same digits', { value: ['1'], operator: { includes: 1 }, holds: false }],
  ['a text includes nothing', { value: 'abc', operator: { includes: 'a' }, holds: false }],
  ['a list equals nothing', { value: ['a'], operator: { equals: 'a' }, holds: false }],
  ['a number is no moment', { value: NOW, operator: { before: '2030-01-01' }, holds: false }],
])('%s', (_, { value, operator, holds }) => {
  expect(evaluateDefinition({ trait: 'x', ...operator }, trait(value))).toEqual(at(holds, null));
});

test.each<[string, { operator: object; moment: number; expected: PredicateResult }]>([
  ['the end of the last day', { operator: { in_last: '1d' }, moment: NOW - DAY, expected: at(false, null) }],
  ['just within it', { operator: { in_last: '1d' }, moment: NOW - DAY + 1, expected: at(true, NOW + 1) }],
  ['now', { operator: { in_last: '1d' }, moment: NOW, expected: at(true, NOW + DAY) }],
  [
    'what is yet to come',
    { operator: { in_last: '1d' }, moment: NOW + HOUR, expected: at(false, NOW + HOUR) },
  ],
  ['long enough ago', { operator: { more_than_ago: '1d' }, moment: NOW - DAY, expected: at(true, null) }],
  [
    'not long enough',
    { operator: { more_than_ago: '1d' }, moment: NOW - HOUR, expected: at(false, NOW - HOUR + DAY) },
  ],
  ['now is not next', { operator: { in_next: '1d' }, moment: NOW, expected: at(false, null) }],
  [
    'the end of the next day',
    { operator: { in_next: '1d' }, moment: NOW + DAY, expected: at(true, NOW + DAY) },
  ],
  [
    'soon in the next day',
    { operator: { in_next: '1d' }, moment: NOW + DAY + HOUR, expected: at(false, NOW + HOUR) },
  ],
  [
    'far ahead',
    { operator: { more_than_ahead: '1d' }, moment: NOW + DAY + HOUR, expected: at(true, NOW + HOUR) },
  ],
  ['not far enough', { operator: { more_than_ahead: '1d' }, moment: NOW + DAY, expected: at(false, null) }],
  ['a fixed moment', { operator: { before: text(NOW) }, moment: NOW, expected: at(false, null) }],
  ['a fixed moment passed', { operator: { after: text(NOW - 1) }, moment: NOW, expected: at(true, null) }],
])(
  '%s: returns the millisecond at which an answer about a moment changes',
  (_, { operator, moment, expected }) => {
    expect(evaluateDefinition({ trait: 'x', ...operator }, trait(text(moment)))).toEqual(expected);
    const past = { event: 'e', last: operator };
    if (!parsePredicate(past).ok) return;
    expect(evaluateDefinition(past, { total: () => ({ count: 2, firstAt: 0, lastAt: moment }) })).toEqual(
      expected,
    );
    expect(
      evaluateDefinition(
        { event: 'e', first: operator },
        { total: () => ({ count: 2, firstAt: moment, lastAt: 0 }) },
      ),
    ).toEqual(expected);
  },
);

/** Events one, two and five hours ago. */
const THREE: Partial<Facts> = {
  nth: ({ nth }) => [NOW - HOUR, NOW - 2 * HOUR, NOW - 5 * HOUR][nth - 1] ?? null,
};

test.each<[object, PredicateResult]>([
  [{ at_least: 1 }, at(true, NOW + 23 * HOUR)],
  [{ at_least: 3 }, at(true, NOW + 19 * HOUR)],
  [{ at_least: 4 }, at(false, null)],
  [{ at_most: 3 }, at(true, null)],
  [{ at_most: 1 }, at(false, NOW + 22 * HOUR)],
  [{ at_most: 0 }, at(false, NOW + 23 * HOUR)],
  [{ exactly: 0 }, at(false, NOW + 23 * HOUR)],
  [{ exactly: 2 }, at(false, NOW + 19 * HOUR)],
  [{ exactly: 3 }, at(true, NOW + 19 * HOUR)],
  [{ exactly: 4 }, at(false, null)],
])('three events in a window, %j: the answer changes only when events leave it', (compare, expected) => {
  expect(evaluateDefinition({ event: 'e', ...compare, within: '24h' }, THREE)).toEqual(expected);
});

test('counts all occurrences without a window, independently of time', () => {
  const total = { total: () => ({ count: 3, firstAt: 0, lastAt: 0 }) };
  expect(evaluateDefinition({ event: 'e', at_least: 3 }, total)).toEqual(at(true, null));
  expect(evaluateDefinition({ event: 'e', exactly: 2 }, total)).toEqual(at(false, null));
  expect(evaluateDefinition({ event: 'e', exactly: 0 })).toEqual(at(true, null));
});

test('a sum may change when its oldest event leaves the window', () => {
  const sum = { sum: () => ({ sum: 100, oldestAt: NOW - DAY }) };
  const condition = { event: 'e', sum: 'amount', within: '7d' };
  expect(evaluateDefinition({ ...condition, at_least: 100 }, sum)).toEqual(at(true, NOW + 6 * DAY));
  expect(evaluateDefinition({ ...condition, greater_than: 100 }, sum)).toEqual(at(false, NOW + 6 * DAY));
  expect(evaluateDefinition({ ...condition, at_most: 0 })).toEqual(at(true, null));
});

const changing = (holds: boolean, inMs: number) => ({
  trait: `${holds}${inMs}`,
  ...(holds ? { in_last: '366d' } : { in_last: '1h' }),
});
const MOMENTS: Partial<Facts> = {
  trait(key) {
    const [, holds, ms] = /^(true|false)(\d+)$/.exec(key) ?? [];
    return text(NOW + Number(ms) - (holds === 'true' ? 366 * DAY : 0));
  },
};
const NEVER = { trait: 'x', is_set: true };
const ALWAYS = { not: { event: 'e' } };

test.each<[object, PredicateResult]>([
  [{ all: [changing(true, 5), changing(true, 3)] }, at(true, NOW + 3)],
  [{ all: [changing(true, 3), ALWAYS] }, at(true, NOW + 3)],
  [{ all: [changing(true, 3), changing(false, 5), changing(false, 7)] }, at(false, NOW + 7)],
  [{ all: [changing(false, 5), { not: ALWAYS }] }, at(false, null)],
  [{ any: [changing(false, 5), changing(false, 3)] }, at(false, NOW + 3)],
  [{ any: [changing(false, 3), changing(true, 5), changing(true, 7)] }, at(true, NOW + 7)],
  [{ any: [changing(true, 5), ALWAYS] }, at(true, null)],
  [{ not: changing(true, 5) }, at(false, NOW + 5)],
])('%j: a group is valid as long as the parts that decide it', (definition, expected) => {
  expect(evaluateDefinition(definition, MOMENTS)).toEqual(expected);
});

test('an explanation includes every single condition', () => {
  const predicate = parse({
    all: [{ not: NEVER }, { not: { any: [{ event: 'e', within: '24h' }, { event: 'f' }] } }],
  });
  expect(explain(predicate, { ...BARE, ...THREE }, () => undefined)).toEqual({
    sentence: 'x is not set and has not done e in the last 24 hours and has not done f',
    holds: false,
    until: '2026-01-16T11:00:00.000Z',
    conditions: [
      { sentence: 'x is not set', holds: true, until: null },
      {
        sentence: 'has not done e in the last 24 hours and has not done f',
        holds: false,
        until: '2026-01-16T11:00:00.000Z',
        conditions: [
          {
            sentence: 'has done e in the last 24 hours or has done f',
            holds: true,
            until: '2026-01-16T11:00:00.000Z',
            conditions: [
              { sentence: 'has done e in the last 24 hours', holds: true, until: '2026-01-16T11:00:00.000Z' },
              { sentence: 'has done f', holds: false, until: null },
            ],
          },
        ],
      },
    ],
  });
});

const keysOf = (definition: unknown): string[] => [...mentionsOf(parse(definition)).queries.keys()];
const W = { property: 'p', equals: 'x' };
const V = { property: 'q', at_least: 1 };

test('two equal conditions share a question', () => {
  const [key] = keysOf({ event: 'e', at_least: 3, within: '24h', where: [W, V] });
  expect(keysOf({ event: 'e', at_most: 2, within: '1d', where: [V, W] })).toEqual([key]);
  expect(keysOf({ event: 'e', exactly: 3, within: '1440m', where: [W, V] })[0]).toBe(key);
});

test('different conditions do not share a question', () => {
  const windows = [
    { within: '1h' },
    { within: '2h' },
    { within: '1h', where: [W] },
    { within: '1h', where: [W, W] },
    { within: '1h', where: [{ property: 'p', equals: 1 }] },
    { within: '1h', where: [{ property: 'p', equals: '1' }] },
    { within: '1h', where: [{ property: 'p', includes: 'x' }] },
    { within: '1h', where: [{ property: 'p","equals","x', equals: 'x' }] },
  ];
  const shapes = [{ at_least: 1 }, { at_least: 2 }, { sum: 'a', at_least: 1 }, { sum: '1', at_least: 1 }];
  const keys = ['e', 'f', '["e"]'].flatMap((event) =>
    windows.flatMap((window) => shapes.flatMap((shape) => keysOf({ event, ...shape, ...window }))),
  );
  expect(keys).toHaveLength(3 * windows.length * shapes.length);
  expect(new Set(keys).size).toBe(keys.length);
});

test('mentionsOf returns what a predicate reads, and whether it depends on the clock', () => {
  const mentions = mentionsOf(
    parse({
      any: [
        { trait: 'plan', equals: 'x' },
        {
          not: {
            all: [
              { user: 'email', is_set: true },
              { event: 'a' },
              { event: 'b', last: { before: '2026-01-01' } },
            ],
          },
        },
        { audience: '00000000-0000-7000-8000-000000000001' },
      ],
    }),
  );
  expect(mentions).toEqual({
    traits: new Set(['plan']),
    email: true,
    events: new Set(['a', 'b']),
    totals: new Set(['a', 'b']),
    queries: new Map(),
    audiences: new Set(['00000000-0000-7000-8000-000000000001']),
    timed: false,
  });
  for (const condition of [
    { event: 'a', within: '7d' },
    { event: 'a', last: { in_last: '7d' } },
    { trait: 'd', more_than_ahead: '7d' },
    { event: 'a', sum: 'b', at_least: 1, within: '7d' },
  ]) {
    expect(mentionsOf(parse({ not: condition })).timed).toBe(true);
  }
});
