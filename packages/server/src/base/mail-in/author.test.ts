import { expect, test } from 'vitest';
import { authorOf } from './author.ts';

test.each([
  ["o'brien@acme.test", "o'brien@acme.test"],
  ['"Ada, of home" <Ada+x@Home.test>', 'ada+x@home.test'],
  ['Lovelace, Ada <ada@home.test>', 'ada@home.test'],
  ['ada@home.test (eve@evil.test)', 'ada@home.test'],
  ['<ada@home.test> eve@evil.test', 'ada@home.test'],
  ['"eve@evil.test" <ada@home.test>', 'ada@home.test'],
  ['=?utf-8?Q?eve=40evil.test?= <ada@home.test> =?utf-8?Q?eve=40evil.test?=', 'ada@home.test'],
])('%s is one author', (from, author) => {
  expect(authorOf(from)).toBe(author);
});

test.each([
  '',
  'Ada',
  'ada@home.test, eve@evil.test',
  'Both: ada@home.test;',
  'undisclosed:;',
  '"ada of"@home.test',
  'ada@home.test@evil.test',
  'ada@[192.0.2.1]',
  'ada@ｈome.test',
  `${'x'.repeat(2_000)} <ada@home.test>`,
])('%s is nobody', (from) => {
  expect(authorOf(from)).toBeNull();
});
