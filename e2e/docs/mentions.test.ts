import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FIRST_WORDS, linesOf, type Mention, mentionsOf, withoutFences } from './mentions.ts';
import { ROOT, TEXTS } from './texts.ts';

const read = (...patterns: string[]): [string, string][] =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .filter((file) => !file.includes('node_modules') && !file.endsWith('.test.ts'))
    .toSorted()
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]);

const DOCS = [...TEXTS, ...read('packages/*/README.md', '.github/*.md')];
const SOURCES = read('site/**/*.ts', 'packages/{cli,contract,dashboard,server}/src/**/*.{ts,tsx}');

describe('mentionsOf', () => {
  test('finds commands in code spans, table cells, shell blocks and diagrams', () => {
    const text = [
      'Run `beckon rules edits welcome` or `drafts list --all`.',
      '| `imports users\\|events <file>` | `npm run bench -- --fast` |',
      '```sh no-run\nexport ID=$(beckon keys create --naem x)\n```',
      '```mermaid\nflowchart LR\n  a["drafts aprove"] -->|users enter| b(beckon domains set x --cold)\n```',
    ].join('\n');
    const problems = mentionsOf(text).map((mention) => problemsOf({ file: 'page', ...mention }));
    expect(problems.flat()).toEqual([
      'page:1 beckon rules edits welcome: no such command',
      'page:2 npm run bench -- --fast: npm run bench takes no --fast',
      'page:3 beckon keys create --naem x: beckon keys create takes no --naem',
      'page:6 beckon drafts aprove: no such command',
      'page:6 beckon domains set x --cold: beckon domains set takes no --cold',
    ]);
  });
});

describe('docs', () => {
  test('name existing commands with options that they accept', () => {
    const mentions = DOCS.flatMap(([file, text]) =>
      mentionsOf(text).map((mention) => ({ file, ...mention })),
    );
    expect(mentions.flatMap(problemsOf)).toEqual([]);
    expect(mentions.flatMap(({ options }) => options).length).toBeGreaterThan(150);
  });

  test('name options that a command on the same page accepts', () => {
    const named = DOCS.flatMap(([file, text]) => {
      const onPage = mentionsOf(text);
      return linesOf(withoutFences(text)).flatMap(([line, content]) =>
        partsOf(content).flatMap((part) =>
          [...part.matchAll(BARE_OPTION)].map(([, option = '']) => ({
            location: `${file}:${line} ${option}`,
            option,
            beside:
              [mentionsOf(part), mentionsOf(content), onPage].find((mentions) => mentions.length > 0) ?? [],
          })),
        ),
      );
    });
    const wrong = named.filter(
      ({ option, beside }) => !OTHERS.has(option) && !beside.some(({ accepts }) => accepts.has(option)),
    );
    expect(
      wrong.map(({ location, beside }) => `${location}: ${beside.map(({ text }) => text).join(', ')}`),
    ).toEqual([]);
    expect(named.length).toBeGreaterThan(200);
  });
});

describe('messages and site texts', () => {
  test('name existing commands with options that they accept', () => {
    const mentions = SOURCES.flatMap(([file, source]) =>
      linesOf(source)
        .filter(([, content]) => !NO_MESSAGE.test(content))
        .flatMap(([line, content]) =>
          [...content.replaceAll(/\$\{[^}]*\}/g, 'x').matchAll(COMMAND)].flatMap(([, words]) =>
            mentionsOf(`\`${words}\``).map((mention) => ({ file, ...mention, line })),
          ),
        ),
    );
    expect(mentions.flatMap(problemsOf)).toEqual([]);
    expect(mentions.length).toBeGreaterThan(80);
  });
});

const BARE_OPTION = /`(--[a-z][\w-]*)[^`]*`/g;
/** An option of every command, and one of Docker. */
const OTHERS = new Set(['--help', '--ulimit']);
/** Comments, and names of connections to PostgreSQL. */
const NO_MESSAGE = /^\s*(?:\/?\*|\/\/)|application_name/;
const COMMAND = new RegExp(
  String.raw`\b(beckon(?:-server)? (?:${[...FIRST_WORDS.keys()].join('|')})\b[^\`'"“”.,;:]*)`,
  'g',
);

function problemsOf({ file, line, text, path, options, accepts }: Mention & { file: string }): string[] {
  if (path === null) return [`${file}:${line} ${text}: no such command`];
  const unknown = options.filter((option) => !accepts.has(option));
  return unknown.map((option) => `${file}:${line} ${text}: ${path} takes no ${option}`);
}

/** The cells of a table row, or the line itself. */
function partsOf(line: string): string[] {
  return /^\s*\|/.test(line) ? line.split(/(?<!\\)\|/) : [line];
}
