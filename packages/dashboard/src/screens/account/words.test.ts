import { expect, test } from 'vitest';
import { browserName, safeNext, waitWords } from './words.ts';

test('safeNext › returns only paths of this host', () => {
  expect(['/p/1/home?x=1', '/profile'].map(safeNext)).toEqual(['/p/1/home?x=1', '/profile']);
  const externalUrls = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    undefined,
  ];
  expect(externalUrls.map(safeNext)).toEqual(externalUrls.map(() => '/'));
  expect(safeNext('/sign-in?next=/sign-in')).toBe('/');
});

test('waitWords › names the waiting time', () => {
  expect([waitWords(900), waitWords(20), waitWords(null)]).toEqual([
    'Try again in 15 minutes.',
    'Try again in 1 minute.',
    'Wait a moment, then try again.',
  ]);
});

test('browserName › names the browser and the system', () => {
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
  const edge = 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0';
  expect([firefox, edge, null, 'curl/8'].map(browserName)).toEqual([
    'Firefox on Linux',
    'Edge on Windows',
    'Unknown browser',
    'curl/8',
  ]);
});
