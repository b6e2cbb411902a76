import { expect, test } from 'vitest';
import { parsePredicate } from './parse.ts';

function faultsOf(value: unknown): string[] {
  const parsed = parsePredicate(value);
  return parsed.ok ? [] : parsed.faults.map(({ message }) => message);
}

function fieldsOf(value: unknown): (string | undefined)[] {
  const parsed = parsePredicate(value);
  return parsed.ok ? [] : parsed.faults.map(({ field }) => field);
}

const PLAN = { trait: 'plan', is_set: true };
const UUID = '0198A000-0000-7000-8000-00000000000F';

test('parses the example of the language', () => {
  const parsed = parsePredicate({
    all: [
      { trait: 'plan', equals: 'trial' },
      { user: 'email', ends_with: '@acme.com' },
      {
        event: 'feature_used',
        at_least: 3,
        within: '7d',
        where: [{ property: 'feature', equals: 'export' }],
      },
      { event: 'invoice_paid', sum: 'amount', at_least: 100, within: '30d' },
      { event: 'login', last: { more_than_ago: '14d' } },
      { event: 'signed_up' },
      { not: { audience: UUID } },
    ],
  });
  expect(parsed).toEqual({
    ok: true,
    predicate: {
      kind: 'all',
      of: [
        { kind: 'trait', trait: 'plan', test: { op: 'equals', value: 'trial' } },
        { kind: 'user', field: 'email', test: { op: 'ends_with', text: '@acme.com' } },
        {
          kind: 'count',
          event: 'feature_used',
          compare: 'at_least',
          count: 3,
          window: {
            withinMs: 604_800_000,
            where: [{ property: 'feature', test: { op: 'equals', value: 'export' } }],
          },
        },
        {
          kind: 'sum',
          event: 'invoice_paid',
          property: 'amount',
          compare: 'at_least',
          than: 100,
          window: { withinMs: 2_592_000_000, where: [] },
        },
        { kind: 'last', event: 'login', test: { op: 'more_than_ago', ms: 1_209_600_000 } },
        { kind: 'count', event: 'signed_up', compare: 'at_least', count: 1, window: null },
        { kind: 'not', of: { kind: 'audience', audienceId: UUID.toLowerCase() } },
      ],
    },
  });
});

const SUBJECTS = 'all, any, not, trait, user, event or audience';

test.each<[string, unknown, string[]]>([
  ['no object', [], [`The definition must be an object with one of ${SUBJECTS}`]],
  ['no subject', {}, [`The definition must have one of ${SUBJECTS}`]],
  [
    'a subject of the prototype',
    JSON.parse('{"__proto__": {"trait": "a"}}'),
    [`The definition must have one of ${SUBJECTS}`],
  ],
  ['two subjects', { trait: 'a', event: 'b' }, ['The definition must have only one of trait and event']],
  [
    'two operators',
    { all: [{ trait: 'a', equals: 1, one_of: [1] }] },
    ['all.0 must have only one of equals and one_of'],
  ],
  [
    'an unknown key',
    { all: [PLAN, { user: 'email', is_set: true, like: 'x' }] },
    ['all.1.like is unknown here. Use user, is_set, equals, one_of, contains, starts_with or ends_with'],
  ],
  ['a key beside a group', { not: PLAN, within: '7d' }, ['within is unknown here. Use not']],
  ['an empty group', { any: [] }, ['any must be a list of at least one condition']],
  ['no name', { not: { trait: '', is_set: true } }, ['not.trait must not be empty']],
  ['a name that is none', { trait: 5, is_set: true }, ['trait must be a string']],
  [
    'is_set turned round',
    { trait: 'a', is_set: false },
    ['is_set must be true. For the opposite, put it into not'],
  ],
  ['null', { trait: 'a', equals: null }, ['equals must be a string, a number, true or false']],
  ['NUL', { trait: 'a', contains: '\0' }, ['contains must not contain NUL or a lone surrogate']],
  ['half a character', { trait: 'a', equals: '\ud800' }, ['equals must not contain NUL or a lone surrogate']],
  [
    'a long text',
    { trait: 'a', equals: 'x'.repeat(1_025) },
    ['equals must not be longer than 1024 characters'],
  ],
  ['a text for a number', { trait: 'a', at_least: '5' }, ['at_least must be a number']],
  [
    'a number beyond a double',
    { trait: 'a', at_least: JSON.parse('1e400') },
    ['at_least must be a number that fits a 64-bit float'],
  ],
  [
    'nothing to choose from',
    { trait: 'a', one_of: [] },
    ['one_of must be a list of 1 to 100 strings or numbers'],
  ],
  ['a wrong choice', { trait: 'a', one_of: ['x', true] }, ['one_of.1 must be a string or a number']],
  [
    'no day',
    { trait: 'a', before: '2026-02-30' },
    ['before must be a date such as 2026-01-31 or an RFC 3339 time with Z or an offset'],
  ],
  [
    'a time too long',
    { trait: 'a', in_last: '367d' },
    ['in_last must be a whole number and s, m, h or d, such as 90s, 15m, 2h or 7d, from 1m to 366d'],
  ],
  ['another field of a user', { user: 'name', is_set: true }, ['user must be email']],
  [
    'an address that is no text',
    { user: 'email', equals: 5 },
    ['The definition must compare email with a string'],
  ],
  ['an audience by name', { audience: 'trial' }, ['audience must be a UUID']],
  ['a count of nothing', { event: 'a', at_least: 0 }, ['at_least must be a whole number from 1 to 1000']],
  ['a count too high', { event: 'a', exactly: 1_001 }, ['exactly must be a whole number from 0 to 1000']],
  ['half an event', { event: 'a', at_most: 0.5 }, ['at_most must be a whole number from 0 to 1000']],
  ['where without within', { event: 'a', where: [] }, ['within is required with where']],
  [
    'where by now',
    { event: 'a', within: '7d', where: [{ property: 'p', in_last: '7d' }] },
    [
      'where.0 must have one of is_set, equals, one_of, contains, starts_with, ends_with, at_least, at_most, greater_than, less_than, includes, before or after',
      'where.0.in_last is unknown here. Use property, is_set, equals, one_of, contains, starts_with, ends_with, at_least, at_most, greater_than, less_than, includes, before or after',
    ],
  ],
  ['two shapes', { event: 'a', sum: 'b', last: {} }, ['The definition must have only one of sum and last']],
  [
    'a sum of nothing',
    { event: 'a', sum: 'b' },
    [
      'The definition must have one of at_least, at_most, greater_than or less_than',
      'within must be a whole number and s, m, h or d, such as 90s, 15m, 2h or 7d, from 1m to 366d',
    ],
  ],
  [
    'a last ahead',
    { event: 'a', last: { in_next: '7d' } },
    [
      'last must have one of before, after, in_last or more_than_ago',
      'last.in_next is unknown here. Use before, after, in_last or more_than_ago',
    ],
  ],
  [
    'a window of a last',
    { event: 'a', last: { in_last: '7d' }, within: '7d' },
    ['within is unknown here. Use event or last'],
  ],
])('rejects %s with a helpful message', (_, value, messages) => {
  expect(faultsOf(value)).toEqual(messages);
});

test('reports all errors with their places, in the order of the document', () => {
  const document = {
    all: [
      { one_of: 5, trait: '' },
      { event: 'a', within: 'x', where: [{ property: 'p' }, 7], at_least: -1 },
      { any: [PLAN, { not: { user: 'phone', is_set: true } }], none: [] },
    ],
    some: 1,
  };
  expect(fieldsOf(document)).toEqual([
    'all.0.one_of',
    'all.0.trait',
    'all.1.within',
    'all.1.where.0',
    'all.1.where.1',
    'all.1.at_least',
    'all.2.any.1.not.user',
    'all.2.none',
    'some',
  ]);
  expect(fieldsOf({ all: Array.from({ length: 30 }, () => 1) })).toEqual(
    Array.from({ length: 20 }, (_, i) => `all.${i}`),
  );
});

test('limits the work for a document that consists of errors', () => {
  const wrong = (levels: number): unknown =>
    levels === 0 ? 1 : { any: Array.from({ length: 200 }, () => wrong(levels - 1)) };
  expect(fieldsOf({ all: Array.from({ length: 5 }, () => wrong(2)) })).toHaveLength(20);
});

test('replaces a key that cannot be sent as text', () => {
  const [fault] = faultsOf({ ...PLAN, ['\ud800\0']: 1 });
  expect(fault).toMatch(/^\u{FFFD}\u{FFFD} is unknown here/u);
});

test('limits a predicate to ten levels and two hundred conditions', () => {
  const nested = (levels: number): object => (levels === 1 ? PLAN : { not: nested(levels - 1) });
  expect(faultsOf(nested(10))).toEqual([]);
  expect(faultsOf(nested(11))).toEqual([
    `${Array(10).fill('not').join('.')} must not be nested deeper than 10 levels`,
  ]);
  const many = (count: number) => Array.from({ length: count }, () => PLAN);
  expect(faultsOf({ all: many(200) })).toEqual([]);
  expect(faultsOf({ all: many(201) })).toEqual(['all must not have more than 200 conditions']);
  expect(faultsOf({ all: [{ any: many(150) }, { any: many(60) }] })).toEqual([
    'all.1.any.50 is one condition too many: a definition has at most 200, including the tests in where',
  ]);
  const where = Array.from({ length: 20 }, () => ({ property: 'p', is_set: true }));
  const used = (count: number) => Array.from({ length: count }, () => ({ event: 'a', within: '7d', where }));
  expect(faultsOf({ all: used(9) })).toEqual([]);
  expect(fieldsOf({ all: used(10) })).toEqual(['all.9.where.10']);
});

test('limits lists of tests and of values', () => {
  const where = (items: number) => Array.from({ length: items }, () => ({ property: 'p', is_set: true }));
  expect(faultsOf({ event: 'a', within: '7d', where: where(20) })).toEqual([]);
  expect(fieldsOf({ event: 'a', within: '7d', where: where(21) })).toEqual(['where']);
  expect(faultsOf({ trait: 'a', one_of: Array(100).fill('x') })).toEqual([]);
  expect(fieldsOf({ trait: 'a', one_of: Array(101).fill('x') })).toEqual(['one_of']);
  expect(fieldsOf({ event: 'x'.repeat(256) })).toEqual(['event']);
  expect(fieldsOf({ trait: 'x'.repeat(256), is_set: true })).toEqual(['trait']);
});
