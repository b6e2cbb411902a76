import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCharacters } from '../../../testing/oracles/count-characters.ts';
import { checkEmail } from './publish.ts';
import { type RenderedContent, renderContent } from './render.ts';
import type { EmailVariables } from './variables.ts';

const VARIABLES: EmailVariables = {
  person: {
    name: 'Ada',
    long: 'x'.repeat(20_000),
    blank: ' \u200B'.repeat(10_000),
    list: Array.from({ length: 500 }, (_, at) => `item ${at}`),
    lists: Array.from({ length: 50 }, () => ['a', 'b'.repeat(200)]),
    name_of_key: 'k'.repeat(20_000),
    company: { name: 'Acme' },
  },
  event: { name: 'started' },
  project: { name: 'Acme' },
  run: { ends_at: null },
  zone: 'America/Argentina/ComodRivadavia',
  locale: 'de',
};

function rendered(
  body: string,
  { times = 1, format = 'markdown' as 'markdown' | 'html' } = {},
): RenderedContent {
  const event = { ...VARIABLES.event, times };
  return renderContent({ subject: 'Hello', preheader: '', body, format }, { ...VARIABLES, event });
}

const looped = (text: string): string => `{% for i in (1..event.times) %}${text}{% endfor %}`;

type Measured = { characters: number; work: number; failed: boolean };

/**
 * Measures one more iteration of a loop. The difference between two renders excludes costs that depend only on the length of the source.
 */
function measureIteration(text: string, format: 'markdown' | 'html' = 'markdown'): Measured {
  const body = looped(text);
  const measure = (times: number): Measured => {
    let result: RenderedContent | undefined;
    const characters = countCharacters(() => (result = rendered(body, { times, format })));
    return { characters, work: result?.work ?? 0, failed: result?.failed !== null };
  };
  measure(1);
  const [few, many] = [measure(2), measure(6)];
  return {
    characters: (many.characters - few.characters) / 4,
    work: (many.work - few.work) / 4,
    failed: many.failed || few.failed,
  };
}

/** A unit is half a microsecond, in which native string functions read this many characters or more. */
const CHARACTERS_PER_UNIT = 200;

const LENGTHS = [1, 100, 1_000, 5_000, 20_000];
const SIGNS = [
  'a',
  ' ',
  '\u200B',
  ' \u200B',
  '%B',
  '%Z ',
  '*',
  '&',
  '.',
  'a.',
  '9',
  '_a',
  '\\n',
  'ä',
  'locale',
  ',',
];
const literal = fc
  .tuple(fc.constantFrom(...SIGNS), fc.constantFrom(...LENGTHS))
  .map(([sign, length]) => `"${sign.repeat(Math.ceil(length / sign.length))}"`);
const read = fc.oneof(
  fc.constantFrom('user.name', 'user.long', 'user.blank', 'user.list', 'user.lists', 'a', 'i', 'forloop'),
  literal.map((key) => `user[${key}]`),
  literal.map((key) => `[${key}]`),
  literal.map((key) => `user.company[${key}]`),
  fc.constantFrom('user[user.name_of_key]', '[user.name_of_key]', 'user[user.lists]', '[user.list]'),
  fc.constantFrom(...LENGTHS.map((length) => `user${'.a'.repeat(length / 2)}`)),
);
const operand = fc.oneof(literal, read, fc.constantFrom('1', 'blank', 'empty', 'nil', '(1..50)'));
const WITHOUT = [
  'abs',
  'capitalize',
  'ceil',
  'date',
  'downcase',
  'first',
  'join',
  'last',
  'number',
  'reverse',
  'round',
];
const MORE = [
  'size',
  'sort',
  'strip',
  'truncate',
  'truncatewords',
  'uniq',
  'upcase',
  'url_encode',
  'link_part',
];
const WITH = [
  'append',
  'at_least',
  'date',
  'default',
  'divided_by',
  'join',
  'plus',
  'prepend',
  'remove',
  'sort',
  'split',
];
const filter = fc.oneof(
  fc.constantFrom(...WITHOUT, ...MORE, 'link_whole'),
  fc
    .tuple(fc.constantFrom(...WITH, 'strip', 'times', 'link_whole'), operand)
    .map(([name, arg]) => `${name}: ${arg}`),
  fc.tuple(operand, operand).map(([a, b]) => `replace: ${a}, ${b}`),
  literal.map((format) => `date: locale: "de", ${format}`),
);
const value = fc
  .tuple(operand, fc.array(filter, { maxLength: 3 }))
  .map(([first, filters]) => [first, ...filters].join(' | '));
const comparison = fc
  .tuple(operand, fc.constantFrom('==', '!=', '<', '>=', 'contains', 'and', 'or'), operand)
  .map((parts) => parts.join(' '));
const piece = fc.oneof(
  value.map((text) => `{{ ${text} }}`),
  value.map((text) => `{{ ${text} | default: "" }}`),
  value.map((text) => `{% assign a = ${text} %}`),
  comparison.map((text) => `{% if ${text} %}{% endif %}`),
  fc.tuple(comparison, comparison).map(([a, b]) => `{% unless ${a} %}{% elsif ${b} %}{% endunless %}`),
  fc
    .tuple(operand, fc.array(operand, { minLength: 1, maxLength: 4 }))
    .map(([target, whens]) => `{% case ${target} %}{% when ${whens.join(', ')} %}{% endcase %}`),
  fc
    .tuple(operand, operand)
    .map(([list, limit]) => `{% for j in ${list} limit: ${limit} %}{% break %}{% endfor %}`),
  literal.map((text) => `{% comment %}${text}{% endcomment %}{% # ${text.replaceAll('\\n', '')} %}`),
  literal.map(
    (text) => `{% for j in ("1"..${text}) %}{% if forloop or forloop %}{% endif %}{% break %}{% endfor %}`,
  ),
);

/** Shortens a counterexample to its repeated characters with their count. */
function shortened(pieces: string[]): string {
  return pieces
    .join('')
    .replace(/(.{1,3}?)\1{9,}/g, (all: string, sign: string) => `${sign}×${all.length / sign.length}`);
}

describe('renderContent', () => {
  test('charges each iteration of a loop for the characters that it reads, for any template', () => {
    let whole = 0;
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('markdown', 'html'),
        (pieces, format) => {
          const { characters, work, failed } = measureIteration(
            pieces.join(''),
            format as 'markdown' | 'html',
          );
          if (failed) return;
          whole += 1;
          expect(characters, shortened(pieces)).toBeLessThanOrEqual(1_000 + CHARACTERS_PER_UNIT * work);
        },
      ),
      { numRuns: 400 },
    );
    expect(whole).toBeGreaterThan(100);
  });

  test.each(['*', '&', '<', '['])('charges for the text that escaping makes of %s', (sign) => {
    const { characters, work } = measureIteration(`{{ "${sign.repeat(1_000)}" }}`);
    expect(characters).toBeLessThanOrEqual(1_000 + CHARACTERS_PER_UNIT * work);
  });

  const KEY = 'k'.repeat(20_000);
  test.each(
    Object.entries({
      'a key of a user': `{{ user["${KEY}"] }}`,
      'a key with a default': `{{ user["${KEY}"] | default: "" }}`,
      'a blank value': '{{ user.blank }}',
      'a list of which only the size is read': '{{ user.lists.size }}',
      'a key within an object': `{{ user.company["${KEY}"] }}`,
      'a variable': `{{ ["${KEY}"] }}`,
      'a path': `{{ user${'.k'.repeat(10_000)} }}`,
      'an output': `{{ "${'\u200B'.repeat(20_000)}" }}`,
      'a condition': `{% if "${KEY}" %}{% endif %}`,
      'a value of case': `{% case "${KEY}" %}{% when "${KEY}" %}{% endcase %}`,
      'the source of a list': `{% for i in ("${'0'.repeat(20_000)}1".."2") %}{% if forloop or forloop %}{% endif %}{% endfor %}`,
      'a raw text': `{% raw %}${' '.repeat(20_000)}{% endraw %}`,
      'an assigned text': `{% assign a = "${KEY}" %}`,
    }),
  )('charges %s for its length', (_, text) => {
    const { work } = measureIteration(text);
    expect(work).toBeGreaterThan(10_000 / 16);
  });

  test('charges for all items that case compares', () => {
    const lists = '(1..500), (1..500), (1..500), (1..500)';
    expect(measureIteration(`{% case (1..500) %}{% when ${lists} %}{% endcase %}`).work).toBeGreaterThan(
      4 * 500,
    );
  });

  test('charges for a search in a list, which Liquid joins, as for a search in its text', () => {
    const search = (of: string): number =>
      measureIteration(`{% assign a = ${of} | remove: "${'a'.repeat(300)}b" %}`).work;
    expect(search('user.lists')).toBeGreaterThan(search(`"${'b'.repeat(10_000)}"`) / 2);
  });

  test('charges for the format of a date at any position among the arguments', () => {
    const format = '%A'.repeat(500);
    const first = measureIteration(`{% assign a = 0 | date: "${format}", locale: "de" %}`).work;
    const last = measureIteration(`{% assign a = 0 | date: locale: "de", "${format}" %}`).work;
    expect(last).toBeGreaterThan(10_000);
    expect(Math.abs(last - first)).toBeLessThan(10);
  });

  test('counts memory for all parts of an email together', () => {
    const ranges = '{% for i in (1..60) %}{% assign a = (1..9999) %}{% endfor %}';
    const parts = { subject: ranges, preheader: '', body: ranges, format: 'markdown' } as const;
    expect(renderContent({ ...parts, body: 'Hello' }, VARIABLES).failed).toBeNull();
    expect(renderContent(parts, VARIABLES).failed).toBe('body');
  });

  test('reports names and stores facts without keys that data can never have', () => {
    const { facts, missing } = rendered(
      `{{ user["${KEY}"] }}{{ user[user.lists] }}{{ user["${'n'.repeat(255)}"] }}`,
    );
    expect(Object.keys(facts)).toEqual(['user.lists', `user.${'n'.repeat(255)}`]);
    expect(Math.max(...missing.map((name) => name.length))).toBe(200);
  });

  test('keeps at most 50 names without a value, even if a loop reads more', () => {
    const { missing } = rendered(
      `{% for i in (1..300) %}{% assign k = "x" | append: i %}{{ user[k] }}{% endfor %}`,
    );
    expect(missing).toHaveLength(50);
  });

  test('writes the visible start of a value that is longer than an email shows', () => {
    const { content } = rendered('{{ user.long }}');
    expect(content.body).toBe(`${'x'.repeat(1_999)}…`);
  });
});

describe('checkEmail', () => {
  test.each([
    ['a tag', `{% ${'t'.repeat(50_000)} %}`],
    ['a filter', `{{ user.name | ${'f'.repeat(50_000)} }}`],
    ['a tag that is not closed', `{% for i in user.${'l'.repeat(50_000)} %}`],
    ['words behind a tag', `{% if 1 %}{% else ${'w'.repeat(50_000)} %}{% endif %}`],
  ])('cuts the name of %s in its message', (_, body) => {
    const [flaw] = checkEmail({ subject: 'Hello', preheader: '', body, format: 'markdown' });
    expect(flaw?.message.length).toBeLessThan(600);
    expect(flaw?.message).toMatch(/^line \d+, column \d+: /);
  });
});
