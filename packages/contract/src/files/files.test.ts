import { expect, test } from 'vitest';
import { formatTarget, targetOf, targetsOf, type FileKind } from './columns.ts';
import { recordOf, recordOfCells } from './record.ts';
import { readAuto, readMoment } from './values.ts';

function targets(kind: FileKind, header: string, entries: [string, string][] = []): (string | null)[] {
  const mapping = new Map(entries.map(([name, to]) => [name, targetOf(kind, to)]));
  return targetsOf(kind, header.split(','), mapping).map((target) => formatTarget(kind, target));
}

test.each<[FileKind, string, (string | null)[]]>([
  ['users', 'ID,E-Mail,Full Name', ['external_user_id', 'email', 'traits.name']],
  // The better header wins, whatever its position; the other keeps its own name.
  ['users', 'id,user_id', ['traits.id', 'external_user_id']],
  ['users', 'user_id,external_user_id', ['traits.user_id', 'external_user_id']],
  ['events', 'id,message_id', ['properties.id', 'message_id']],
  ['events', 'user_id,name,id', ['external_user_id', 'name', 'message_id']],
  ['events', 'created_at,occurred_at', ['properties.created_at', 'occurred_at']],
  ['events', 'created_at,event', ['occurred_at', 'name']],
  ['users', 'created_at', ['traits.signupDate']],
  ['users', 'created_at,signupDate', ['traits.created_at', 'traits.signupDate']],
  // The first of equal names wins.
  ['users', 'Email,E-Mail', ['email', 'traits.E-Mail']],
  ['users', 'Plan,plan', ['traits.Plan', 'traits.plan']],
  ['users', 'traits.seats,seats', ['traits.seats', null]],
  ['users', 'beckon_line,beckon_score', [null, 'traits.beckon_score']],
  ['users', 'traits,properties', ['traits', 'traits.properties']],
  ['events', 'plan,email', ['properties.plan', 'properties.email']],
])('targetsOf › maps %s with the columns %s', (kind, header, expected) => {
  expect(targets(kind, header)).toEqual(expected);
});

test('targetsOf › gives explicit mappings precedence over guesses', () => {
  expect(targets('users', 'id,nr,email', [['nr', 'external_user_id']])).toEqual([
    'traits.id',
    'external_user_id',
    'email',
  ]);
  expect(targets('users', 'plan,Tarif', [['Tarif', 'plan']])).toEqual([null, 'traits.plan']);
  expect(targets('users', 'email,mail', [['email', 'traits.old']])).toEqual(['traits.old', 'email']);
});

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31 09:00', '2026-01-31T09:00:00.000Z'],
  ['2026-01-31T09:00:00.5', '2026-01-31T09:00:00.500Z'],
  ['2026-01-31 09:00:00 UTC', '2026-01-31T09:00:00.000Z'],
  ['2026-01-31 09:00:00+0230', '2026-01-31T06:30:00.000Z'],
  ['2026-01-31T09:00:00.123456789-02:00', '2026-01-31T11:00:00.123Z'],
  ['1767225600', '2026-01-01T00:00:00.000Z'],
  ['1767225600.25', '2026-01-01T00:00:00.250Z'],
  ['1767225600250', '2026-01-01T00:00:00.250Z'],
])('readMoment › reads %s as %s', (text, moment) => {
  expect(new Date(readMoment(text)).toISOString()).toBe(moment);
});

test.each(
  [
    ['2026-02-30', '2026-02-30T09:00:00Z', '31.01.2026', '01/02/2026', '2026-01-31T24:00:00Z', '0000-01-01'],
    ['2026-01-31T09:00:60Z', '2026-01-31T09:00:00+15:00', '2026', 'Jan 31 2026', ''],
  ].flat(),
)('readMoment › rejects %j', (text) => {
  expect(readMoment(text)).toBeNaN();
});

test('readAuto › converts a number only if no digit is lost', () => {
  for (const text of ['01234', '1234567890123456', '0.1234567890123456', '1e5', '+49170', '.5', '1,5', 'yes'])
    expect(readAuto(text)).toBe(text);
  expect(['0', '-1.5', '123456789012345', 'True'].map(readAuto)).toEqual([0, -1.5, 123456789012345, true]);
});

test('recordOfCells › gives values the type that the API requires, whatever they look like', () => {
  const rules = { kind: 'events', eventName: null, equalRowsAreOne: true } as const;
  const columns = ['user_id', 'event', 'plan', 'trialDays'].map((name, i) => ({
    target: targetsOf('events', ['user_id', 'event', 'plan', 'trialDays'])[i] ?? targetOf('events', name),
    type: 'auto' as const,
  }));
  expect(recordOfCells(['7', 'trial_started', '2026', '14'], columns, rules)).toEqual({
    record: { external_user_id: '7', name: 'trial_started', properties: { plan: '2026', trialDays: 14 } },
  });
  expect(recordOfCells(['7', 'opened', '2026'], columns, rules)).toMatchObject({
    record: { properties: { plan: 2026 } },
  });
  expect(recordOf([2 ** 53, 'opened'], columns, rules)).toMatchObject({ field: 'external_user_id' });
  expect(recordOfCells(['7', 'a', 'b', 'c', 'd'], columns, rules)).toEqual({
    field: null,
    message: 'The row has 5 cells, and the header 4',
  });
});
