import { expect, test } from 'vitest';
import { parsePredicate } from './parse.ts';
import { sentenceOf } from './sentence.ts';

const KNOWN = '00000000-0000-7000-8000-000000000001';
const UNKNOWN = '00000000-0000-7000-8000-000000000002';

function sentenceFor(value: unknown): string {
  const parsed = parsePredicate(value);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return sentenceOf(parsed.predicate, (id) => (id === KNOWN ? 'Trial users' : undefined));
}

const A = { trait: 'a', is_set: true };
const B = { trait: 'b', is_set: true };
const C = { trait: 'c', is_set: true };

test.each<[object, string, string]>([
  [{ trait: 'plan', is_set: true }, 'plan is set', 'plan is not set'],
  [{ trait: 'plan', equals: 'trial' }, 'plan is trial', 'plan is not trial'],
  [{ trait: 'plan', equals: '10' }, 'plan is “10”', 'plan is not “10”'],
  [{ trait: 'seats', equals: 10 }, 'seats is 10', 'seats is not 10'],
  [{ trait: 'Job title', equals: true }, '“Job title” is true', '“Job title” is not true'],
  [{ trait: 'plan', equals: '' }, 'plan is “”', 'plan is not “”'],
  [{ trait: 'plan', one_of: ['a'] }, 'plan is a', 'plan is not a'],
  [
    { trait: 'plan', one_of: ['a', 'b c', 3] },
    'plan is one of a, “b c”, 3',
    'plan is not one of a, “b c”, 3',
  ],
  [
    { trait: 'n', one_of: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] },
    'n is one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more',
    'n is not one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more',
  ],
  [{ trait: 'role', contains: 'eng' }, 'role contains eng', 'role does not contain eng'],
  [{ trait: 'role', starts_with: 'é' }, 'role starts with é', 'role does not start with é'],
  [
    { user: 'email', ends_with: '@acme.com' },
    'email ends with “@acme.com”',
    'email does not end with “@acme.com”',
  ],
  [{ trait: 'seats', at_least: 5 }, 'seats is at least 5', 'seats is not at least 5'],
  [{ trait: 'seats', at_most: 5 }, 'seats is at most 5', 'seats is not at most 5'],
  [{ trait: 'seats', greater_than: 5 }, 'seats is more than 5', 'seats is not more than 5'],
  [{ trait: 'seats', less_than: 0.5 }, 'seats is less than 0.5', 'seats is not less than 0.5'],
  [{ trait: 'tags', includes: 'beta' }, 'tags includes beta', 'tags does not include beta'],
  [{ trait: 'd', before: '2026-01-31' }, 'd is before 2026-01-31', 'd is not before 2026-01-31'],
  [
    { trait: 'd', after: '2026-01-31T14:30:00+02:00' },
    'd is after 2026-01-31T12:30:00Z',
    'd is not after 2026-01-31T12:30:00Z',
  ],
  [{ trait: 'd', in_last: '7d' }, 'd is in the last 7 days', 'd is not in the last 7 days'],
  [{ trait: 'd', in_next: '1h' }, 'd is in the next hour', 'd is not in the next hour'],
  [
    { trait: 'd', more_than_ago: '90m' },
    'd is more than 90 minutes ago',
    'd is not more than 90 minutes ago',
  ],
  [
    { trait: 'd', more_than_ahead: '1d' },
    'd is more than 24 hours ahead',
    'd is not more than 24 hours ahead',
  ],
  [{ event: 'login' }, 'has done login', 'has not done login'],
  [
    { event: 'feature_used', within: '7d' },
    'has done feature_used in the last 7 days',
    'has not done feature_used in the last 7 days',
  ],
  [{ event: 'login', exactly: 0 }, 'has not done login', 'has done login'],
  [{ event: 'login', at_most: 0 }, 'has not done login', 'has done login'],
  [{ event: 'login', at_least: 3 }, 'has done login at least 3 times', 'has done login at most 2 times'],
  [{ event: 'login', at_most: 1 }, 'has done login at most once', 'has done login at least 2 times'],
  [{ event: 'login', exactly: 2 }, 'has done login exactly 2 times', 'has not done login exactly 2 times'],
  [
    {
      event: 'feature_used',
      at_least: 3,
      within: '7d',
      where: [
        { property: 'feature', equals: 'export' },
        { property: 'rows', at_least: 10 },
      ],
    },
    'has done feature_used (where feature is export and rows is at least 10) at least 3 times in the last 7 days',
    'has done feature_used (where feature is export and rows is at least 10) at most 2 times in the last 7 days',
  ],
  [
    { event: 'invoice_paid', sum: 'amount', at_least: 100, within: '30d' },
    'total amount of invoice_paid in the last 30 days is at least 100',
    'total amount of invoice_paid in the last 30 days is less than 100',
  ],
  [
    { event: 'login', last: { more_than_ago: '14d' } },
    'last login was more than 14 days ago',
    'last login was not more than 14 days ago',
  ],
  [
    { event: 'Signed up', first: { before: '2026-01-01' } },
    'first “Signed up” was before 2026-01-01',
    'first “Signed up” was not before 2026-01-01',
  ],
  [{ audience: KNOWN }, 'is in the audience “Trial users”', 'is not in the audience “Trial users”'],
  [
    { audience: UNKNOWN },
    'is in an audience that does not exist',
    'is not in an audience that does not exist',
  ],
  [{ all: [A, B, C] }, 'a is set and b is set and c is set', 'a is not set or b is not set or c is not set'],
  [{ any: [A, { not: B }] }, 'a is set or b is not set', 'a is not set and b is set'],
  [
    { all: [A, { any: [B, C] }] },
    'a is set and (b is set or c is set)',
    'a is not set or (b is not set and c is not set)',
  ],
  [
    { any: [{ all: [A, B] }, C] },
    '(a is set and b is set) or c is set',
    '(a is not set or b is not set) and c is not set',
  ],
  [
    { all: [A, { all: [B, { any: [C] }] }] },
    'a is set and b is set and c is set',
    'a is not set or b is not set or c is not set',
  ],
  [
    { all: [A, { not: { any: [B, C] } }] },
    'a is set and b is not set and c is not set',
    'a is not set or b is set or c is set',
  ],
])('%j and its negation are plain English sentences', (definition, sentence, opposite) => {
  expect(sentenceFor(definition)).toBe(sentence);
  expect(sentenceFor({ not: definition })).toBe(opposite);
  expect(sentenceFor({ not: { not: definition } })).toBe(sentence);
});

test('cuts a long text, but never within a character', () => {
  expect(sentenceFor({ trait: 'a', equals: '😀'.repeat(81) })).toBe(`a is “${'😀'.repeat(80)}…”`);
  expect(sentenceFor({ trait: 'a', equals: 'x'.repeat(80) })).toBe(`a is ${'x'.repeat(80)}`);
});
