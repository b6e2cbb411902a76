import {
  CANONICAL_EVENTS,
  JSON_MAX_ARRAY_ITEMS,
  JSON_MAX_OBJECT_KEYS,
  RECORD_MAX_BYTES,
} from '@beckon/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvent, readUser } from './record.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const options = { now: NOW, checkStrings: true };
const user = (value: unknown) => readUser(value, options);
const event = (value: unknown) => readEvent(value, options);
const fieldsOf = (read: string | { field?: string }[]) =>
  typeof read === 'string' ? [] : read.map((fault) => fault.field);
const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

test('stores only the known fields, unchanged', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 50, unit: 'grapheme' }).filter((id) => !id.includes('\0')),
      fc.dictionary(
        fc.string({ unit: 'binary-ascii', maxLength: 20 }).filter((key) => !key.includes('\0')),
        fc.integer(),
      ),
      (id, traits) => {
        const stored = user({ external_user_id: id, traits, suppressTriggersUntil: '2030', other: [1] });
        expect(JSON.parse(stored as string)).toEqual({ external_user_id: id, traits });
      },
    ),
  );
});

test('stores any JSON value or reports its errors, and never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 14, noNullPrototype: true } as object), (value) => {
      for (const read of [user(value), event(value)]) {
        if (typeof read === 'string') JSON.parse(read);
        else expect(read.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  [{}, ['external_user_id']],
  [{ external_user_id: '' }, ['external_user_id']],
  [{ external_user_id: 7 }, ['external_user_id']],
  [{ external_user_id: 'x'.repeat(257) }, ['external_user_id']],
  [{ external_user_id: null, email: null, traits: null }, ['external_user_id', 'email', 'traits']],
  [{ external_user_id: 'u', email: 'no' }, ['email']],
  [{ external_user_id: 'u', traits: [] }, ['traits']],
  [{ traits: 'x', email: 'x', external_user_id: {} }, ['external_user_id', 'email', 'traits']],
  [{ external_user_id: 'u', traits: { a: { b: 'x\0' } } }, ['traits.a.b']],
  [{ external_user_id: 'u', traits: { a: ['ok', '\ud800'] } }, ['traits.a.1']],
  [{ external_user_id: 'a\0b' }, ['external_user_id']],
  [{ external_user_id: 'u', traits: JSON.parse('{"n":1e400}') }, ['traits.n']],
  [{ external_user_id: 'u', traits: { ['k'.repeat(256)]: 1 } }, ['traits']],
  [{ external_user_id: 'u', traits: nested(11) }, ['traits.a.a.a.a.a.a.a.a.a.a']],
  [{ external_user_id: 'u', traits: { list: Array(JSON_MAX_ARRAY_ITEMS + 1).fill(1) } }, ['traits.list']],
  [{ external_user_id: 'u', traits: { big: 'x'.repeat(RECORD_MAX_BYTES) } }, ['traits']],
])('reports the invalid fields of a user in the order of the schema: %#', (value, fields) => {
  expect(fieldsOf(user(value))).toEqual(fields);
});

test('accepts values at the limits: 256 characters, 10 levels, 255 keys, 1,000 items', () => {
  const keys = Object.fromEntries(Array.from({ length: JSON_MAX_OBJECT_KEYS }, (_, i) => [`k${i}`, i]));
  const list = Array(JSON_MAX_ARRAY_ITEMS).fill(0);
  for (const traits of [nested(10), keys, { list }, { ['k'.repeat(255)]: 1 }, {}]) {
    expect(user({ external_user_id: 'x'.repeat(256), traits })).toBeTypeOf('string');
  }
  expect(fieldsOf(user({ external_user_id: 'u', traits: { ...keys, more: 1 } }))).toEqual(['traits']);
});

test('lists at most twenty errors', () => {
  const traits = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, '\0']));
  expect(user({ external_user_id: 'u', traits })).toHaveLength(20);
});

test('treats __proto__ and constructor as plain data keys', () => {
  const stored = user(
    JSON.parse('{"external_user_id":"u","traits":{"__proto__":{"polluted":1},"constructor":2}}'),
  );
  expect(stored).toBe('{"external_user_id":"u","traits":{"__proto__":{"polluted":1},"constructor":2}}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(event({ external_user_id: 'u', name: 'constructor' })).toBeTypeOf('string');
  expect(event({ external_user_id: 'u', name: '__proto__' })).toBeTypeOf('string');
});

test.each([
  'a@b.co',
  'first.last+tag@sub.example.com',
  "o'neil@example.org",
  'x@xn--bcher-kva.example',
  'x@bücher.example',
  `${'l'.repeat(64)}@example.com`,
])('accepts %s as an email address', (email) => {
  expect(user({ external_user_id: 'u', email })).toBe(JSON.stringify({ external_user_id: 'u', email }));
});

test.each([
  '',
  'plain',
  '@b.co',
  'a@',
  'a@b',
  'a b@c.de',
  ' a@b.co',
  'a@b.co ',
  'a@@b.co',
  'a@b@c.de',
  'a@-b.co',
  'a@b..co',
  'a@b.co.',
  'a@b_c.de',
  'a\n@b.co',
  'a@b.c\no',
  'ä@b.co',
  'a@b.co/x',
  'a@[127.0.0.1]',
  `${'l'.repeat(65)}@example.com`,
  `a@${'d'.repeat(64)}.com`,
  `a@${'d.'.repeat(126)}com`,
])('rejects %j as an email address', (email) => {
  expect(fieldsOf(user({ external_user_id: 'u', email }))).toEqual(['email']);
});

describe('readUser', () => {
  test.each([
    ['ASCII', `a@${'d'.repeat(260)}.com`],
    ['characters of two UTF-16 units', `a@${'\u{1F600}'.repeat(200)}.com`],
    ['such characters before the @', `${'\u{1F600}'.repeat(200)}@example.com`],
  ])('names email when an address in %s is too long', (_, email) => {
    expect(user({ external_user_id: 'u', email })).toEqual([
      { message: 'email must not be longer than 254 characters', field: 'email' },
    ]);
  });

  test('names every field of a record in which all fields are too long', () => {
    const email = `a@${'\u{1F600}'.repeat(200)}.com`;
    expect(fieldsOf(user({ external_user_id: 'u'.repeat(257), email }))).toEqual([
      'external_user_id',
      'email',
    ]);
  });
});

test.each([
  [{}, ['external_user_id', 'name']],
  [{ external_user_id: 'u', name: '' }, ['name']],
  [{ external_user_id: 'u', name: 'x'.repeat(256) }, ['name']],
  [{ external_user_id: 'u', name: 'x', properties: null }, ['properties']],
  [{ external_user_id: 'u', name: 'x', properties: [] }, ['properties']],
  [{ external_user_id: 'u', name: 'x', occurred_at: 5 }, ['occurred_at']],
  [{ external_user_id: 'u', name: 'x', message_id: '' }, ['message_id']],
  [{ external_user_id: 'u', name: 'x', message_id: 'x'.repeat(256) }, ['message_id']],
  [{ external_user_id: 'u', name: 'usage_threshold_reached' }, ['properties.usagePercent']],
  [
    { external_user_id: 'u', name: 'usage_threshold_reached', properties: { usagePercent: '80' } },
    ['properties.usagePercent'],
  ],
  [
    { external_user_id: 'u', name: 'trial_started', properties: { trialDays: null } },
    ['properties.trialDays'],
  ],
  [
    {
      external_user_id: 'u',
      name: 'usage_threshold_reached',
      properties: { usagePercent: 1, meter: 2 },
      occurred_at: 'x',
    },
    ['properties.meter', 'occurred_at'],
  ],
])('reports the invalid fields of an event: %#', (value, fields) => {
  expect(fieldsOf(event(value))).toEqual(fields);
});

test('accepts trial_expiring without trialDays, or with daysLeft only', () => {
  expect(event({ external_user_id: 'u', name: 'trial_expiring' })).toBeTypeOf('string');
  expect(
    event({ external_user_id: 'u', name: 'trial_expiring', properties: { daysLeft: 'three' } }),
  ).toBeTypeOf('string');
});

test('CANONICAL_EVENTS has ten names', () => {
  expect(Object.keys(CANONICAL_EVENTS)).toHaveLength(10);
});

test.each([
  ['2026-01-14T23:00:00+02:00', '2026-01-14T21:00:00.000Z'],
  ['2026-01-14t23:00:00.123456z', '2026-01-14T23:00:00.123Z'],
  ['2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z'],
  ['2026-01-15T13:00:00Z', '2026-01-15T13:00:00.000Z'],
])('normalizes occurred_at %s to %s', (sent, kept) => {
  const stored = JSON.parse(
    event({ external_user_id: 'u', name: 'x', occurred_at: sent }) as string,
  ) as object;
  expect(stored).toMatchObject({ occurred_at: kept });
});

test.each([
  '2026-01-15T13:00:00.001Z',
  '1999-12-31T23:59:59.999Z',
  '2026-02-30T00:00:00Z',
  '2026-01-14',
  '2026-01-14T10:00:00',
  '2026-01-14 10:00:00Z',
  '2026-01-14T24:00:00Z',
  '2026-01-14T10:60:00Z',
  '2026-01-14T10:00:60Z',
  '2026-01-14T10:00:00+2',
  '2026-01-14T10:00:00Z[Europe/Paris]',
  '1768000000',
  '',
])('rejects occurred_at %j', (occurredAt) => {
  expect(fieldsOf(event({ external_user_id: 'u', name: 'x', occurred_at: occurredAt }))).toEqual([
    'occurred_at',
  ]);
});

test('marks only a suppressed event as suppressed in the stored record', () => {
  const sent = { external_user_id: 'u', name: 'x', suppress: true };
  expect(event(sent)).toBe('{"external_user_id":"u","name":"x","properties":{}}');
  expect(readEvent(sent, { ...options, suppress: true })).toBe(
    '{"external_user_id":"u","name":"x","properties":{},"suppress":true}',
  );
});
