import { expect, test } from 'vitest';
import { zoneOf } from './zone.ts';

test('uses the first candidate that names a zone, in the spelling of the database', () => {
  expect(zoneOf(['Europe/Paris', 'Asia/Tokyo'], 'UTC')).toEqual({ zone: 'Europe/Paris', invalid: [] });
  expect(zoneOf([undefined, 'asia/tokyo'], 'UTC')).toEqual({ zone: 'Asia/Tokyo', invalid: [] });
});

test('skips and reports values that are not zones, including offsets', () => {
  for (const bad of [
    '+02:00',
    '-05',
    'UTC+3',
    'Z',
    'PST',
    'Mars/Olympus',
    'Europe/Paris[u-ca=iso8601]',
    ' UTC',
  ]) {
    expect(zoneOf([bad, 'Asia/Tokyo'], 'UTC')).toEqual({ zone: 'Asia/Tokyo', invalid: [bad] });
    // The cached result is the same.
    expect(zoneOf([bad, bad], 'Asia/Tokyo')).toEqual({ zone: 'Asia/Tokyo', invalid: [bad, bad] });
  }
  expect(zoneOf([7, { a: 1 }, ['UTC'], true], 'Asia/Tokyo')).toEqual({
    zone: 'Asia/Tokyo',
    invalid: ['7', '{"a":1}', '["UTC"]', 'true'],
  });
});

test('does not report a missing or empty zone', () => {
  expect(zoneOf([undefined, null, ''], 'Asia/Tokyo')).toEqual({ zone: 'Asia/Tokyo', invalid: [] });
  expect(zoneOf([], 'Asia/Tokyo')).toEqual({ zone: 'Asia/Tokyo', invalid: [] });
});

test('falls back to UTC if the fallback is no longer a zone', () => {
  expect(zoneOf(['nowhere'], 'Gone/Away')).toEqual({ zone: 'UTC', invalid: ['nowhere', 'Gone/Away'] });
});

test('truncates a long name in its report', () => {
  const { zone, invalid } = zoneOf(['x'.repeat(10_000)], 'UTC');
  expect([zone, invalid]).toEqual(['UTC', [`${'x'.repeat(64)}…`]]);
});
