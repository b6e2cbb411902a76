import { expect, test } from 'vitest';
import { authorNameOf, authorOf } from './read-mail.ts';

test.each([
  ["o'brien@acme.test", "o'brien@acme.test"],
  ['"Ada, of home" <Ada+x@Home.test>', 'ada+x@home.test'],
  ['Lovelace, Ada <ada@home.test>', 'ada@home.test'],
  ['ada@home.test (eve@evil.test)', 'ada@home.test'],
  ['<ada@home.test> eve@evil.test', 'ada@home.test'],
  ['"eve@evil.test" <ada@home.test>', 'ada@home.test'],
  ['=?utf-8?Q?eve=40evil.test?= <ada@home.test> =?utf-8?Q?eve=40evil.test?=', 'ada@home.test'],
])('reads one author from %s', (from, author) => {
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
])('finds no author in %s', (from) => {
  expect(authorOf(from)).toBeNull();
});

test.each([
  ['Ada Lovelace <ada@home.test>', 'Ada Lovelace'],
  ['"Ada \\"L\\" Lovelace" <ada@home.test>', 'Ada "L" Lovelace'],
  ['Zoë <zoe@home.test>', 'Zoë'],
  ['=?UTF-8?Q?Zo=C3=AB_M=C3=BCller?= <zoe@home.test>', 'Zoë Müller'],
  ['"=?utf-8?B?0JbQvtGA0LA=?=" <zhora@home.test>', 'Жора'],
  // A multi-byte character may be split between two encoded words, and the gap between the words is not a space.
  ['=?utf-8?B?5bGx55Sw5aSq?= =?utf-8?B?6YOO?= <taro@home.test>', '山田太郎'],
  ['=?iso-8859-1?Q?Andr=E9?= Dupont <andre@home.test>', 'André Dupont'],
  ['ada@home.test', ''],
  ['', ''],
])("reads the author's name from %s", (from, name) => {
  expect(authorNameOf(from)).toBe(name);
});
