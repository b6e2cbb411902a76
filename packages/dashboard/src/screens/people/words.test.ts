import { describe, expect, test } from 'vitest';
import type { TimelineItem } from '@beckon/contract/dashboard';
import { headline, localeWarning, plain, reachOf, suppressedSubject, zoneWarning } from './words.ts';

const item = (more: Partial<TimelineItem>): TimelineItem => ({
  at: '2026-01-01T00:00:00.000Z',
  id: 'x',
  kind: 'event',
  title: 'login',
  rule: null,
  audience: null,
  draft_id: null,
  detail: {},
  steps: [],
  ...more,
});

test('headline › describes each kind of item', () => {
  const rule = { id: 'r', name: 'Trial' };
  const traits = { plan: ['a', 'b'] };
  for (const [more, expected] of [
    [{}, 'login'],
    [{ kind: 'created' }, 'User created'],
    [
      { kind: 'changed', detail: { traits, email: 'changed', suppressed: true } },
      'Changed: plan, email address, triggers suppressed',
    ],
    [{ kind: 'joined', audience: { id: 'a', name: 'Paying' } }, 'Joined “Paying”'],
    [{ kind: 'left', audience: { id: 'a', name: null } }, 'Left a deleted audience'],
    [{ kind: 'decision', title: 'fired', rule }, 'Enrolled · Trial'],
    [{ kind: 'decision', title: 'only_if', rule }, 'Not enrolled: condition not met · Trial'],
    [{ kind: 'email', title: '<b>Hello</b>', rule }, 'Email “<b>Hello</b>” · Trial'],
  ] as [Partial<TimelineItem>, string][])
    expect(headline(item(more))).toBe(expected);
});

test('plain › shows a value unchanged in one line', () => {
  expect([plain('a'), plain(1), plain(['a', null]), plain(undefined)]).toEqual(['a', '1', '["a",null]', '–']);
});

describe('zoneWarning', () => {
  test('names the invalid values and the time zone that is used', () => {
    expect(zoneWarning({ zone: 'Europe/Paris', invalid_zones: [] })).toBeNull();
    expect(zoneWarning({ zone: null, invalid_zones: ['Mars/Olympus'] })).toBe(
      'Invalid time zone “Mars/Olympus”. The time zone of the project is used instead.',
    );
    expect(zoneWarning({ zone: 'Asia/Tokyo', invalid_zones: ['PST'] })).toBe(
      'Invalid time zone “PST”. Asia/Tokyo is used instead.',
    );
  });
});

describe('localeWarning', () => {
  test('names the invalid value and what is used instead', () => {
    expect(localeWarning({ invalid_locale: null })).toBeNull();
    expect(localeWarning({ invalid_locale: 'xx' })).toBe(
      'Invalid locale “xx”. The language of the project is used instead.',
    );
  });
});

describe('suppressedSubject', () => {
  test('says whether the address or the id was suppressed for an erased user', () => {
    const held = { reason: 'unsubscribed', until: null, kind: 'email', created_at: '' } as const;
    expect(suppressedSubject({ ...held, from_erased: false })).toBe('their address');
    expect(suppressedSubject({ ...held, from_erased: true })).toBe('address of an erased user');
    expect(suppressedSubject({ ...held, kind: 'user', from_erased: true })).toBe('user id of an erased user');
  });
});

describe('reachOf', () => {
  test('names the one reason why a user cannot receive email, the suppression first', () => {
    const suppression = {
      reason: 'unsubscribed',
      until: null,
      kind: 'email',
      created_at: '',
      from_erased: false,
    } as const;
    const user = { suppression: null, email: 'ada@x.org', unsubscribed_topics: [] };
    expect(reachOf(user)).toEqual({ can: true, words: 'Can receive email', note: null });
    expect(reachOf({ ...user, unsubscribed_topics: ['tips'] }).note).toBe('Unsubscribed from tips');
    expect(reachOf({ ...user, email: null }).words).toBe('Cannot receive email: no address');
    expect(reachOf({ ...user, email: null, suppression })).toEqual({
      can: false,
      words: 'Cannot receive email: unsubscribed',
      note: 'Suppressed: their address',
    });
  });
});
