import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const GUARANTEES = readFileSync(join(ROOT, 'docs/explanation/guarantees.md'), 'utf8');
const README = readFileSync(join(ROOT, 'verification/README.md'), 'utf8');
const PLACES = [
  '',
  'packages/server/src',
  'packages/server/src/modules',
  'packages/server/src/platform',
  'packages',
];

/** The rows of each section with a table of promises, by title. */
function rowsBySection(page: string, heading: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  for (const section of page.split(heading).slice(1)) {
    const [title = '', ...lines] = section.split('\n');
    const rows = lines.filter(
      (line) => line.startsWith('| ') && !/^\| (Guarantee|Promise|Then) \|/.test(line),
    );
    if (lines.some((line) => /^\| (Guarantee|Promise) \|/.test(line))) sections.set(title, rows);
  }
  return sections;
}

describe('the table of promises and their proof', () => {
  const promises = rowsBySection(GUARANTEES, '\n## ');
  const proofs = rowsBySection(README, '\n### ');

  test('has a row for each promise, in the same sections', () => {
    const counts = (rows: Map<string, string[]>): [string, number][] =>
      [...rows].map(([title, { length }]) => [title, length]);
    expect(counts(proofs)).toEqual(counts(promises));
  });

  test('says how many promises there are', () => {
    const count = [...promises.values()].flat().length;
    expect(README).toContain(`has ${count} promises`);
  });

  test('names the tests of each promise that the page names', () => {
    for (const [title, rows] of promises)
      for (const [nth, row] of rows.entries())
        for (const [, name = ''] of row.matchAll(/\([^)]*?([\w-]+\.test\.ts)\)/g))
          expect(proofs.get(title)?.[nth]).toContain(name);
  });

  test('names only tests that exist', () => {
    const named = [...proofs.values()].flat().flatMap((row) => [...row.matchAll(/`([\w./-]+\.test\.ts)`/g)]);
    const missing = named.filter(
      ([, path = '']) => !PLACES.some((place) => existsSync(join(ROOT, place, path))),
    );
    expect(missing.map(([, path]) => path)).toEqual([]);
  });
});
