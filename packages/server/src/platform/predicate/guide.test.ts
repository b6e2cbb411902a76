import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parsePredicate } from './parse.ts';
import { sentenceOf } from './sentence.ts';
import { TEXT_OPS, TRAIT_OPS } from './parse-values.ts';

const guide = readFileSync(new URL('../../../../../docs/reference/audiences.md', import.meta.url), 'utf8');
const REFERRED = '0198a000-0000-7000-8000-00000000000f';

type Example = { json: string; expectedText: string };

/** A row of a table, or a block of JSON with the sentence below it. */
const ROW = /^\| `(\{.*\})` \| (.+) \|$/gm;
const BLOCK = /^```json\n([\s\S]*?)\n```\n\n> (.+)$/gm;

function examplesOf(pattern: RegExp): Example[] {
  return Array.from(guide.matchAll(pattern), ([, json = '', expectedText = '']) => ({ json, expectedText }));
}

const all = [...examplesOf(ROW), ...examplesOf(BLOCK)];
const refused = all.filter(({ expectedText }) => expectedText.startsWith('`'));
const understood = all.filter((example) => !refused.includes(example));

test.each(understood)('$json has the sentence of the guide', ({ json, expectedText }) => {
  const parsed = parsePredicate(JSON.parse(json));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  expect(sentenceOf(parsed.predicate, (id) => (id === REFERRED ? 'Trial users' : undefined))).toBe(
    expectedText,
  );
});

test.each(refused)('$json has the error of the guide', ({ json, expectedText }) => {
  const parsed = parsePredicate(JSON.parse(json));
  const messages = parsed.ok ? [] : parsed.faults.map((fault) => fault.message);
  const unescaped = expectedText
    .slice(1, -1)
    .replace(/^definition\./, '')
    .replace(/^definition /, 'The definition ');
  expect(messages).toEqual([unescaped]);
});

test('covers every example of the guide', () => {
  const tables = guide.split('\n').filter((line) => line.startsWith('| `{'));
  expect(examplesOf(ROW)).toHaveLength(tables.length);
  expect(examplesOf(BLOCK)).toHaveLength(guide.split('\n```json\n').length - 1);
});

const EVENT_KEYS = ['at_least', 'at_most', 'exactly', 'within', 'where', 'sum', 'first', 'last'];

test.each([
  ['trait', TRAIT_OPS],
  ['user', TEXT_OPS],
  ['event', EVENT_KEYS],
  ['all', []],
  ['any', []],
  ['not', []],
  ['audience', []],
] as const)('%s has an example for each of its operators', (subject, operators) => {
  const keys = understood.flatMap(({ json }) => {
    const document = JSON.parse(json) as object;
    return subject in document ? Object.keys(document) : [];
  });
  expect(keys).toEqual(expect.arrayContaining([subject, ...operators]));
});
