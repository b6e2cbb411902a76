import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from './mutants/list.ts';
import { chooseFaults } from './plan.ts';

const ROOT = join(import.meta.dirname, '../..');
const PATCHES = join(import.meta.dirname, 'mutants');

test('twelve mutants exist, each with its patch', () => {
  const patches = readdirSync(PATCHES).filter((name) => name.endsWith('.patch'));
  expect(patches.toSorted()).toEqual(MUTANTS.map(({ name }) => `${name}.patch`));
  expect(MUTANTS).toHaveLength(12);
});

test.each(MUTANTS)('$name applies to the current sources', ({ name }) => {
  const apply = ['apply', '--check', join(PATCHES, `${name}.patch`)];
  expect(() => execFileSync('git', apply, { cwd: ROOT, stdio: 'pipe' })).not.toThrow();
});

test.each(MUTANTS)('$name uses only existing faults', ({ only }) => {
  expect(chooseFaults(only.split(','))).not.toEqual([]);
});
