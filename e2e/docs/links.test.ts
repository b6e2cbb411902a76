import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { filled } from '../../site/generated/index.ts';
import { anchorsOf, type Link, linksOf } from '../../site/markdown.ts';
import { PAGES } from '../../site/pages.ts';
import { ROOT, TEXTS } from './texts.ts';

test('every link within the repository leads to an existing file, and every anchor to a heading', () => {
  const broken = [...TEXTS].flatMap(([file, text]) =>
    linksOf(text)
      .filter((link) => !leads(file, link))
      .map(({ target, line }) => `${file}:${line} ${target}`),
  );
  expect(broken).toEqual([]);
});

function leads(file: string, { target }: Link): boolean {
  if (/^(?:https?|mailto):/.test(target)) return true;
  const [path = '', anchor] = target.split('#', 2);
  const linkedFile = path === '' ? file : posix.join(posix.dirname(file), path);
  if (!existsSync(posix.join(ROOT, linkedFile))) return false;
  const text = TEXTS.get(linkedFile);
  return anchor === undefined || (text !== undefined && anchorsOf(text).has(anchor));
}

test('every page of the folder is a page of the guide exactly once', () => {
  const pages = [...TEXTS.keys()].filter((file) => /^docs\/(?!decisions\/)/.test(file));
  expect(
    PAGES.map(({ file }) => file)
      .filter((file) => file !== 'SECURITY.md')
      .toSorted(),
  ).toEqual(pages.toSorted());
  expect(new Set(PAGES.map(({ path }) => path)).size).toBe(PAGES.length);
});

test('the index of decisions lists each page with its number and title', () => {
  const expected = [...TEXTS].flatMap(([file, text]) => {
    const [, name = '', digits = ''] = /^docs\/decisions\/((\d{4})-.*)$/.exec(file) ?? [];
    if (name === '') return [];
    const [, number, title] = /^# (\d+)\. (.+)\n/.exec(text) ?? [];
    expect(Number(number), file).toBe(Number(digits));
    return [`| ${number} | [${title}](${name}) |`];
  });
  const index = TEXTS.get('docs/decisions/README.md') ?? '';
  expect(index.match(/^\| \d+ \| \[.+?\]\(\S+\) \|/gm)).toEqual(expected);
});

test.each(PAGES.map(({ file }) => file))(
  '%s matches the output of the program (otherwise run `node site/fill.ts`)',
  (file) => {
    const text = TEXTS.get(file) ?? '';
    expect(text).toBe(filled(text));
  },
);
