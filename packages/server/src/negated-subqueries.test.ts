import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { literalsOf } from '../testing/oracles/source-statements.ts';

/**
 * PostgreSQL plans none of these as a join. If the list does not fit into work_mem it is read again for each row, so the cost is the
 * product of both. NOT EXISTS is equivalent and becomes an anti join. `…` is a placeholder of a template literal.
 */
const NEGATED_SUBQUERIES = [
  // A list of values is allowed: `NOT IN ('fired', 'starts_later')`. A bare `NOT IN` precedes an expression that this test does not see.
  /\bNOT IN\b(?!\s*\((?!\s*(?:SELECT\b|…)))/,
  /(?:<>|!=)\s*ALL\s*\(\s*SELECT\b/,
  /\bNOT\s*\(?\s*[\w.]+\s+IN\s*\(\s*SELECT\b/,
  /\bNOT\s*\(?\s*[\w.]+\s*=\s*ANY\s*\(\s*SELECT\b/,
];

function findIn(source: string): { line: number; text: string }[] {
  return literalsOf(source).filter(({ text }) => NEGATED_SUBQUERIES.some((pattern) => pattern.test(text)));
}

describe('negated subqueries', () => {
  test('are written as NOT EXISTS in every statement', () => {
    const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
      (file) => !file.endsWith('.test.ts'),
    );
    const found = files.flatMap((file) =>
      findIn(readFileSync(join(import.meta.dirname, file), 'utf8')).map(({ line }) => `${file}:${line}`),
    );
    expect(found).toEqual([]);
    expect(files.length).toBeGreaterThan(400);
  });

  test('are recognized in each form', () => {
    const found = [
      'a NOT IN (SELECT b FROM c)',
      'a NOT IN (${set})',
      'a ${negated ? "NOT IN" : "IN"} (SELECT b FROM c)',
      'a <> ALL (SELECT b FROM c)',
      'NOT (x.a IN (SELECT b FROM c))',
      'NOT a = ANY (SELECT b FROM c)',
    ];
    for (const text of found) expect(findIn(`query(\`${text}\`)`), text).toHaveLength(1);
    const allowed = [
      "a NOT IN ('b', 'c')",
      'a <> ALL ($1::text[])',
      'NOT EXISTS (SELECT FROM c WHERE c.b = a)',
      'NOT a = ANY (ARRAY(SELECT b FROM c))',
      'a IN (SELECT b FROM c)',
    ];
    for (const text of allowed) expect(findIn(`query(\`${text}\`)`), text).toEqual([]);
  });
});
