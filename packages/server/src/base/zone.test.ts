import { expect, test } from 'vitest';
import { zoneOf } from './zone.ts';

test('the first candidate that names a zone wins, in the spelling of the database', () => {
  expect(zoneOf(['Europe/Paris', 'Asia/Tokyo'], 'UTC')).toEqual({ zone: 'Europe/Paris', invalid: [] });
  expect(zoneOf([undefined, 'asia/tokyo'], 'UTC')).toEqual({ zone: 'Asia/Tokyo', invalid: [] });
});

test('what names no zone is passed over and told, an offset too', () => {
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
    // What is remembered says the same.
    expect(zoneOf([bad, bad], 'Asia/Tokyo')).toEqual({ zone: 'Asia/Tokyo', invalid: [bad, bad] });
  }
  expect(zoneOf([7, { a: 1 }, ['UTC'], true], 'Asia/Tokyo')).toEqual({
    zone: 'Asia/Tokyo',
    invalid: ['7', '{"a":1}', '["UTC"]', 'true'],
  });
});

test('a missing or empty zone is nothing to warn of', () => {
  expect(zoneOf([undefined, null, ''], 'Asia/Tokyo')).toEqual({ zone: 'Asia/Tokyo', invalid: [] });
  expect(zoneOf([], 'Asia/Tokyo')).toEqual({ zone: 'Asia/Tokyo', invalid: [] });
});

test('a fallback that is no zone any more gives way to UTC', () => {
  expect(zoneOf(['nowhere'], 'Gone/Away')).toEqual({ zone: 'UTC', invalid: ['nowhere', 'Gone/Away'] });
});

test('an endless name is told in part', () => {
  const { zone, invalid } = zoneOf(['x'.repeat(10_000)], 'UTC');
  expect([zone, invalid]).toEqual(['UTC', [`${'x'.repeat(64)}…`]]);
});
