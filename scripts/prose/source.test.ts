import { describe, expect, test } from 'vitest';
import { sourceSentences } from './source.ts';

type Found = { kind: string; line: number; text: string };

const inFile = (file: string, ...lines: string[]): Found[] => sourceSentences(file, lines.join('\n'));
const stringsOf = (...lines: string[]): string[] =>
  inFile('a.tsx', ...lines).flatMap(({ kind, text }) => (kind === 'string' ? [text] : []));

describe('sourceSentences', () => {
  test('reads block comments, and line comments of neighboring lines as one', () => {
    const found = inFile(
      'a.ts',
      '/**',
      ' * Retries on deadlock.',
      ' * It stops later.',
      ' */',
      '// A comment',
      '// of two lines.',
      'const a = 1; // Another one.',
    );
    expect(found).toEqual([
      { kind: 'comment', line: 2, text: 'Retries on deadlock.' },
      { kind: 'comment', line: 3, text: 'It stops later.' },
      { kind: 'comment', line: 5, text: 'A comment of two lines.' },
      { kind: 'comment', line: 7, text: 'Another one.' },
    ]);
  });

  test('skips notes to tools', () => {
    expect(
      inFile('a.ts', '// oxlint-disable-next-line no-console', '/* @ts-expect-error it fails */'),
    ).toEqual([]);
  });

  test('reads messages in literals, templates and concatenations', () => {
    expect(
      stringsOf(
        "const a = 'The key is invalid.';",
        'const b = `The ${a} is ${c ? "still too long" : 1} here`;',
        "const d = 'The body has ' + count + ' bytes ' + 'too many';",
      ),
    ).toEqual(['The key is invalid.', 'The ◆ is ◆ here', 'still too long', 'The body has ◆ bytes too many']);
  });

  test('reads the text of an element with the elements in it, and its attributes', () => {
    expect(
      stringsOf(
        'const a = <p title="A short title">Sent <b>at once</b> to {name} by {f("the mail server")}.</p>;',
      ),
    ).toEqual(['Sent at once to ◆ by ◆.', 'A short title', 'the mail server']);
  });

  test('skips statements, routes, patterns, types, imports and identifiers', () => {
    expect(
      stringsOf(
        "import { a } from 'The module of it';",
        "type T = 'A type of text';",
        "query('SELECT some of the rows');",
        "ask('GET /projects/:project/drafts');",
        "new RegExp('(?:one of these words)');",
        "const key = 'one-word';",
        'const css = `a { color: red of it }`;',
      ),
    ).toEqual([]);
  });

  test('skips lists of words and SQL expressions', () => {
    expect(
      stringsOf(
        "const a = ('abs append ceil floor ' + 'join last').split(' ');",
        "const b = `CASE\n WHEN o.type = 'a' THEN 'one of them' END`;",
        "const lines = 'The first line\\nand another'.split('\\n');",
        "const words = f('A message of it').split(' ');",
      ),
    ).toEqual(['The first line and another', 'A message of it']);
  });

  test('marks a message that continues another one', () => {
    expect(stringsOf("const a = `No key${b ? ' of this project' : ''} has the ID ${id}`;")).toEqual([
      'No key◆ has the ID ◆',
      '◆ of this project',
    ]);
  });

  test('reads the titles of a test file, and none of its strings', () => {
    const found = inFile(
      'a.test.ts',
      "describe('claimEmails', () => {",
      "  test('skips paused projects', () => expect('A text of some words').toBe(1));",
      "  it.each([[1]])('accepts %s of them', () => {});",
      '});',
    );
    expect(found).toEqual([
      { kind: 'title', line: 1, text: 'claimEmails' },
      { kind: 'title', line: 2, text: 'skips paused projects' },
      { kind: 'title', line: 3, text: 'accepts %s of them' },
    ]);
  });
});
