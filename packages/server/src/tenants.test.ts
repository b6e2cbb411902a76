import { expect, test } from 'vitest';
import { ACROSS_PROJECTS } from '../testkit/across-projects.ts';
import { literalsOf, type Statement, statementsOfSources } from '../testkit/statements.ts';
import { TABLES } from './io/db/tables.ts';

const OF_PROJECTS = new Set(
  TABLES.flatMap((table) => (table.kind === 'tenant' && table.column === 'project_id' ? [table.name] : [])),
);

/** By `project_id = $1`, by a list of projects, or row by row of a list in which each says its own. */
const SAYS_OF_WHICH = [
  /\bproject_id\s*=\s*(?:ANY\s*\(\s*)?(?:\$\d|…)/,
  /\bproject_id = \w+\.project_id\b/,
  /USING \(project_id\b/,
  /\(project_id,[^)]*\)\s*IN \(/,
  // What is written says it itself, in its first column; `…` are the columns of a store, which begin with it.
  /INSERT INTO beckon\.\w+(?: AS \w+)? \(\s*(?:project_id\b|…)/,
];

const words = (text: string): string => text.replaceAll(/\s+/g, ' ');
const found = statementsOfSources().filter(({ text }) =>
  [...text.matchAll(/\bbeckon\.(\w+)/g)].some(([, name]) => OF_PROJECTS.has(name ?? '')),
);
const silent = found.filter(({ text }) => !SAYS_OF_WHICH.some((way) => way.test(words(text))));
const named = ACROSS_PROJECTS.flatMap(({ statements }) =>
  Object.entries(statements).flatMap(([file, parts]) => parts.map((part) => ({ file, part }))),
);

function isNamed({ file, text }: Statement): boolean {
  return named.some((one) => one.file === file && words(text).includes(one.part));
}

test('a statement about rows of projects says of which, or is named with its reason', () => {
  const strangers = silent.filter((statement) => !isNamed(statement));
  expect(strangers.map(({ file, line, text }) => `${file}:${line} ${words(text).slice(0, 120)}`)).toEqual([]);
  // The sources are read as they are: there are some hundreds.
  expect(found.length).toBeGreaterThan(400);
});

test('whoever is named here is still one that has to be', () => {
  const unused = named.filter(
    ({ file, part }) => !silent.some((one) => one.file === file && words(one.text).includes(part)),
  );
  expect(unused).toEqual([]);
});

test('texts are found where they stand: not in comments, not in patterns, and with those inside of others', () => {
  const source = [
    "// 'not this'",
    '/* nor `this` */',
    "const pattern = /['`]/g;",
    "const a = 'one';",
    'const b = `two ${c ? `three ${d}` : "four"} five`;',
    'const half = a / 2;',
  ].join('\n');
  expect(literalsOf(source).map(({ line, text }) => [line, text])).toEqual(
    expect.arrayContaining([
      [4, 'one'],
      [5, 'two … five'],
    ]),
  );
  const texts = literalsOf(source).map(({ text }) => text);
  expect(texts).toEqual(['one', 'three …', 'four', 'two … five']);
});
