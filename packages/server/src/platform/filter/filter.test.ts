import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Filter, isExact, matches, type Pattern } from './filter.ts';
import { parseFilter, printFilter } from './parse.ts';

const VOCABULARY = { type: { values: ['request', 'event', 'user_created'] }, name: {}, user: {} };

function filterOf(text: string): Filter {
  const parsed = parseFilter(text, VOCABULARY);
  if (!parsed.ok) throw new Error(parsed.faults.map((fault) => fault.message).join('\n'));
  return parsed.filter;
}

function faultsOf(text: string): string[] {
  const parsed = parseFilter(text, VOCABULARY);
  return parsed.ok ? [] : parsed.faults.map((fault) => fault.message);
}

/** A small alphabet, so that patterns match values, and every character with a special meaning. */
const text = fc.string({
  unit: fc.constantFrom('a', 'b', '*', ',', '"', '\\', ' ', '%', '_', '!', ':', '-', '😀'),
});
const pattern: fc.Arbitrary<Pattern> = fc.oneof(
  text.map((value) => [value]),
  fc
    .tuple(text, fc.array(text.filter((value) => value !== '')), text)
    .map(([first, middle, last]) => [first, ...middle, last]),
);
const term = fc.record({
  key: fc.constantFrom('name', 'user'),
  negated: fc.boolean(),
  values: fc.array(pattern, { minLength: 1, maxLength: 4 }),
});
const filter: fc.Arbitrary<Filter> = fc.record({ terms: fc.array(term, { maxLength: 5 }) });

test('parses what it prints to the same filter', () => {
  fc.assert(
    fc.property(filter, (filter) => {
      const printed = printFilter(filter);
      fc.pre(printed.length <= 1_000);
      expect(filterOf(printed)).toEqual(filter);
    }),
    { numRuns: 2_000 },
  );
});

test('never fails on any text, and prints a parsed text to the same filter', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('name:', '-', 'user:', '"', '*', ',', ' ', '\\', 'a') }),
  );
  fc.assert(
    fc.property(anything, (input) => {
      const parsed = parseFilter(input, VOCABULARY);
      if (parsed.ok) expect(filterOf(printFilter(parsed.filter))).toEqual(parsed.filter);
      else expect(parsed.faults.length).toBeGreaterThan(0);
    }),
    { numRuns: 2_000 },
  );
});

test('matches a star to any run of characters, like the equivalent regular expression', () => {
  fc.assert(
    fc.property(pattern, text, ([first = '', ...rest], value) => {
      const escaped = [first, ...rest].map((part) => RegExp.escape(part)).join('.*');
      const whole = new RegExp(`^${escaped}$`, 's');
      const term = { key: 'name', negated: false, values: [[first, ...rest]] };
      expect(matches({ terms: [term] }, { name: value })).toBe(whole.test(value));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['', {}, true],
  ['type:event name:trial_*', { type: 'event', name: 'trial_started' }, true],
  ['type:event name:trial_*', { type: 'event', name: 'a_trial_started' }, false],
  ['type:event,request', { type: 'request' }, true],
  ['type:event type:request', { type: 'request' }, false],
  ['-type:request', { type: 'event' }, true],
  ['-type:request', { type: 'request' }, false],
  ['-type:request,event', { type: 'event' }, false],
  ['user:42', {}, false],
  ['user:*', {}, false],
  ['user:*', { user: '' }, true],
  ['-user:*', {}, true],
  ['-user:42', {}, true],
  ['user:""', { user: '' }, true],
  ['user:a:b', { user: 'a:b' }, true],
  ['user:a\\b', { user: 'a\\b' }, true],
  ['user:Ada', { user: 'ada' }, false],
  ['name:"5*"', { name: '5*' }, true],
  ['name:"5*"', { name: '55' }, false],
  ['name:"the end"*', { name: 'the end of it' }, true],
  ['name:"say \\"a\\\\b\\""', { name: 'say "a\\b"' }, true],
  ['name:a**b', { name: 'ab' }, true],
  ['omar', { words: 'user_7 omar haddad' }, true],
  ['OMAR hadd', { words: 'user_7 omar haddad' }, true],
  ['omar -haddad', { words: 'user_7 omar haddad' }, false],
  ['"omar haddad"', { words: 'user_7 omar haddad' }, true],
  ['"haddad omar"', { words: 'user_7 omar haddad' }, false],
  ['o*had', { words: 'user_7 omar haddad' }, true],
  ['"type:event"', { words: 'type:event' }, true],
  ['a,b', { words: 'a' }, false],
  ['omar', {}, false],
  [' \t name:a\n user:b ', { name: 'a', user: 'b' }, true],
])('matching %j against %j returns %j', (text, item, expected) => {
  expect(matches(filterOf(text), item)).toBe(expected);
});

test('reports each error with its position and the accepted form', () => {
  expect(faultsOf('colour:red constructor:x :y')).toEqual([
    '"colour" at character 1 is not a key. Use one of type, name, user',
    '"constructor" at character 12 is not a key. Use one of type, name, user',
    '"" at character 26 is not a key. Use one of type, name, user',
  ]);
  expect(faultsOf('-type:event,evnt,user_*,x*')).toEqual([
    'type:evnt at character 13 is not a value of type. Use one of request, event, user_created',
    'type:x* at character 25 is not a value of type. Use one of request, event, user_created',
  ]);
  expect(faultsOf('name:')).toEqual(['name has no value at character 6. Write "" for an empty value']);
  expect(faultsOf('name:a,,b')).toEqual(['name has no value at character 8. Write "" for an empty value']);
  expect(faultsOf('name:"a b')).toEqual(['The quote at character 6 is not closed']);
});

test('limits the length of a filter, and rejects text that the database cannot store', () => {
  expect(faultsOf(`name:${'a'.repeat(996)}`)).toEqual(['A filter has at most 1000 characters']);
  expect(faultsOf(`name:${'a'.repeat(995)}`)).toEqual([]);
  expect(faultsOf('name:a '.repeat(21))).toEqual(['A filter has at most 20 terms, this one has 21']);
  expect(faultsOf('name:a '.repeat(20))).toEqual([]);
  expect(faultsOf('name:a\0')).toEqual(['A filter must be Unicode text without NUL']);
  expect(faultsOf('name:\ud800')).toEqual(['A filter must be Unicode text without NUL']);
  expect(faultsOf(`type:${'x,'.repeat(400)}x`)).toHaveLength(20);
});

test('treats a key as exact only if all its values are literal', () => {
  for (const exact of ['user:42', 'user:a,b name:x*', 'user:"a*"'])
    expect(isExact(filterOf(exact), 'user')).toBe(true);
  for (const open of ['', '-user:42', 'user:a*', 'user:a,b*', 'name:42'])
    expect(isExact(filterOf(open), 'user')).toBe(false);
});
