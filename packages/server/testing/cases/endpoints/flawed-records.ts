import { expect, test } from 'vitest';
import type { CheckedResponse } from '../../servers/http-client.ts';
import { bagOf, bodyOf, type Facts, record } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller, NOTHING_STORED } from '../../servers/endpoint-server.ts';

type Flaw = [what: string, more: Record<string, unknown>, field: string];

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));

function commonFlaws(bag: string): Flaw[] {
  return [
    ['no external_user_id', { external_user_id: undefined }, 'external_user_id'],
    ['an empty external_user_id', { external_user_id: '' }, 'external_user_id'],
    ['a number for external_user_id', { external_user_id: 7 }, 'external_user_id'],
    ['null for external_user_id', { external_user_id: null }, 'external_user_id'],
    ['257 characters in external_user_id', { external_user_id: 'x'.repeat(257) }, 'external_user_id'],
    ['NUL in external_user_id', { external_user_id: 'a\u0000' }, 'external_user_id'],
    [`null for ${bag}`, { [bag]: null }, bag],
    [`a list for ${bag}`, { [bag]: [] }, bag],
    [`text for ${bag}`, { [bag]: 'x' }, bag],
    ['a lone surrogate', { [bag]: { text: 'a\ud800' } }, `${bag}.text`],
    ['NUL deep inside', { [bag]: { list: [{ text: '\u0000' }] } }, `${bag}.list.0.text`],
    ['a key with NUL', { [bag]: { 'a\u0000b': 1 } }, bag],
    ['a key of 256 characters', { [bag]: { ['k'.repeat(256)]: 1 } }, bag],
    ['256 keys', { [bag]: keys(256) }, bag],
    ['1,001 items', { [bag]: { list: Array(1_001).fill(0) } }, `${bag}.list`],
    ['more than 10 levels', { [bag]: nested(11) }, `${bag}${'.a'.repeat(10)}`],
    ['a flaw in an unknown field', { later: ['\u0000'] }, 'later.0'],
    ['more than 64 KiB', { [bag]: { note: 'é'.repeat(32 * 1024) } }, bag],
  ];
}

const USER_FLAWS: Flaw[] = [
  ['null for email', { email: null }, 'email'],
  ['a number for email', { email: 7 }, 'email'],
  ['an empty email', { email: '' }, 'email'],
  ['an email without a domain', { email: 'ada' }, 'email'],
  ['an email without a dotted domain', { email: 'ada@localhost' }, 'email'],
  ['an email with two at signs', { email: 'a@b@example.com' }, 'email'],
  ['an email with a space', { email: ' ada@example.com' }, 'email'],
  ['an email with a name', { email: 'Ada <ada@example.com>' }, 'email'],
  ['an email of 255 characters', { email: `ada@${'a.'.repeat(124)}com` }, 'email'],
  [
    'an email of 260 UTF-16 units and fewer characters',
    { email: `a@${'\u{1F600}'.repeat(127)}.com` },
    'email',
  ],
  ['a local part of 65 characters', { email: `${'a'.repeat(65)}@example.com` }, 'email'],
];

const EVENT_FLAWS: Flaw[] = [
  ['no name', { name: undefined }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['null for name', { name: null }, 'name'],
  ['a name of 256 characters', { name: 'n'.repeat(256) }, 'name'],
  ['null for occurred_at', { occurred_at: null }, 'occurred_at'],
  ['seconds for occurred_at', { occurred_at: 1_768_478_400 }, 'occurred_at'],
  ['a local time', { occurred_at: '2026-01-15T12:00:00' }, 'occurred_at'],
  ['a date', { occurred_at: '2026-01-15' }, 'occurred_at'],
  ['the thirtieth of February', { occurred_at: '2025-02-30T00:00:00Z' }, 'occurred_at'],
  ['a time before 2000', { occurred_at: '1999-12-31T23:59:59.999Z' }, 'occurred_at'],
  ['an empty message_id', { message_id: '' }, 'message_id'],
  ['null for message_id', { message_id: null }, 'message_id'],
  ['a message_id of 256 characters', { message_id: 'm'.repeat(256) }, 'message_id'],
  ['no usagePercent', { name: 'usage_threshold_reached' }, 'properties.usagePercent'],
  [
    'usagePercent as text',
    canonical('usage_threshold_reached', { usagePercent: '80' }),
    'properties.usagePercent',
  ],
  [
    'meter as a number',
    canonical('usage_threshold_reached', { usagePercent: 80, meter: 1 }),
    'properties.meter',
  ],
  [
    'limit as text',
    canonical('usage_threshold_reached', { usagePercent: 80, limit: '1' }),
    'properties.limit',
  ],
  ['trialDays as text', canonical('trial_started', { trialDays: '14' }), 'properties.trialDays'],
  ['trialDays as null', canonical('trial_expiring', { trialDays: null }), 'properties.trialDays'],
];

function canonical(name: string, properties: Record<string, unknown>) {
  return { name, properties };
}

export function flawsFor(facts: Facts): Flaw[] {
  return [...commonFlaws(bagOf(facts)), ...(facts.stores === 'users' ? USER_FLAWS : EVENT_FLAWS)];
}

/** Tests invalid records at endpoints where one refuses the request: 422 with the path of the field. */
export function refusesFlawedRecords(server: EndpointServer, facts: Facts): void {
  const at = facts.list === null ? '' : `${facts.list}.1.`;
  const around = (flawed: unknown) =>
    facts.list === null ? [flawed] : [record(facts), flawed, record(facts)];

  test.each(flawsFor(facts))('%s is refused by its path, and nothing is stored', async (_, more, field) => {
    const caller = await newCaller(server, facts);
    const body = bodyOf(facts, around(record(facts, more)));
    const response = await caller.send({ body, once: 'k' });
    expectFirstField(response, at + field);
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('every failing field is named, in the order of the schema, twenty at most', async () => {
    const caller = await newCaller(server, facts);
    const flawed =
      facts.stores === 'users'
        ? { traits: 1, email: 'x' }
        : { message_id: 1, occurred_at: 'x', properties: [] };
    const fields =
      facts.stores === 'users'
        ? ['external_user_id', 'email', 'traits']
        : ['external_user_id', 'name', 'properties', 'occurred_at', 'message_id'];
    const { errors } = await caller.send({ body: bodyOf(facts, around(flawed)) });
    expect(errors.map((error) => error.field)).toEqual(fields.map((field) => at + field));
    const many = record(facts, {
      [bagOf(facts)]: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, '\u0000'])),
    });
    expect((await caller.send({ body: bodyOf(facts, around(many)) })).errors).toHaveLength(20);
  });

  test('a message says what is wrong and holds nothing of what was sent', async () => {
    const caller = await newCaller(server, facts);
    const secretive = 'do-not-repeat@@example';
    for (const [, more] of flawsFor(facts)) {
      const flawed = { ...record(facts, more), email: secretive, occurred_at: secretive };
      const { text } = await caller.send({ body: bodyOf(facts, around(flawed)) });
      expect(text).not.toContain('do-not-repeat');
    }
  });
}

function expectFirstField(response: CheckedResponse, field: string): void {
  expect([response.status, response.errors[0]?.code, response.errors[0]?.field]).toEqual([
    422,
    'validation_failed',
    field,
  ]);
  for (const error of response.errors) expect(error.code).toBe('validation_failed');
}
