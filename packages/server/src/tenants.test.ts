import { expect, test } from 'vitest';
import { ACROSS_PROJECTS } from '../testing/cases/across-projects.ts';
import { literalsOf, type Statement, statementsOfSources } from '../testing/oracles/source-statements.ts';
import { TABLES } from './platform/db/tables.ts';

const OF_PROJECTS = new Set(
  TABLES.flatMap((table) => (table.kind === 'tenant' && table.column === 'project_id' ? [table.name] : [])),
);

/** A statement names its project by `project_id = $1`, by a list of projects, or row by row of a list with a project per row. */
const SAYS_OF_WHICH = [
  /\bproject_id\s*=\s*(?:ANY\s*\(\s*)?(?:\$\d|…)/,
  /\bproject_id = \w+\.project_id\b/,
  /USING \(project_id\b/,
  /\(project_id,[^)]*\)\s*IN \(/,
  // An inserted row has the project in its first column. `…` is the placeholder for the columns of a store, which begin with it.
  /INSERT INTO beckon\.\w+(?: AS \w+)? \(\s*(?:project_id\b|…)/,
];

const words = (text: string): string => text.replaceAll(/\s+/g, ' ');
const found = statementsOfSources().filter(({ text }) =>
  [...text.matchAll(/\bbeckon\.(\w+)/g)].some(([, name]) => OF_PROJECTS.has(name ?? '')),
);
const silent = found.filter(({ text }) => !SAYS_OF_WHICH.some((pattern) => pattern.test(words(text))));
const named = ACROSS_PROJECTS.flatMap(({ statements }) =>
  Object.entries(statements).flatMap(([file, parts]) => parts.map((part) => ({ file, part }))),
);

function isNamed({ file, text }: Statement): boolean {
  return named.some((entry) => entry.file === file && words(text).includes(entry.part));
}

test('every statement about project rows filters by project, or is listed with its reason', () => {
  const strangers = silent.filter((statement) => !isNamed(statement));
  expect(strangers.map(({ file, line, text }) => `${file}:${line} ${words(text).slice(0, 120)}`)).toEqual([]);
  // Guards against a scan that finds nothing: the sources contain some hundreds of statements.
  expect(found.length).toBeGreaterThan(400);
});

test('every statement listed here still needs to be', () => {
  const unused = named.filter(
    ({ file, part }) =>
      !silent.some((statement) => statement.file === file && words(statement.text).includes(part)),
  );
  expect(unused).toEqual([]);
});

test('finds string literals, also nested ones, but none in comments or regular expressions', () => {
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
