import { expect, test } from 'vitest';
import { compareVersions, readClient } from './client-version.ts';

test('reads the client from the first name/semver token', () => {
  const cases: [string, string | undefined][] = [
    ['beckon-js/1.2.3', 'beckon-js 1.2.3'],
    ['beckon-js/1.2.3-rc.1+build.5 node/26.1.0', 'beckon-js 1.2.3-rc.1+build.5'],
    ['Mozilla/5.0 (X11; foo/9.9.9) acme/0.1.0', 'acme 0.1.0'],
    ['curl/8.10', undefined],
    ['beckon-js/01.2.3', undefined],
    ['beckon-js /1.2.3', undefined],
    ['beckon-js/1.2.3,', undefined],
    [`${'x'.repeat(65)}/1.2.3`, undefined],
    [`${'('.repeat(600)} acme/1.0.0`, undefined],
    ['', undefined],
  ];
  for (const [text, expected] of cases) {
    const client = readClient(text);
    expect([text, client && `${client.name} ${client.version}`]).toEqual([text, expected]);
  }
});

test('orders versions as semver.org does', () => {
  const ordered = [
    '0.9.9',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.2.0',
    '1.10.0',
    '10.0.0',
  ];
  for (const [i, a] of ordered.entries())
    for (const [j, b] of ordered.entries())
      expect([a, b, Math.sign(compareVersions(a, b))]).toEqual([a, b, Math.sign(i - j)]);
  expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0);
});
