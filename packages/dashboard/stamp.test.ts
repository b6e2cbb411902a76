import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { stampOf } from './stamp.ts';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

function sources(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'beckon-stamp-'));
  made.push(root);
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, 'packages/dashboard', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return join(root, 'packages/dashboard');
}

const FILES = { 'src/a.ts': '1', 'src/b/c.ts': '2', 'index.html': '3', '../contract/src/d.ts': '4' };

it('stampOf › is equal for equal sources in any folder', () => {
  expect(stampOf(sources(FILES))).toBe(stampOf(sources(FILES)));
});

it('stampOf › changes with every source, but not with tests', () => {
  const stamp = stampOf(sources(FILES));
  expect(stampOf(sources({ ...FILES, 'src/b/c.ts': 'x' }))).not.toBe(stamp);
  expect(stampOf(sources({ ...FILES, '../contract/src/d.ts': 'x' }))).not.toBe(stamp);
  expect(stampOf(sources({ ...FILES, 'src/new.ts': '' }))).not.toBe(stamp);
  expect(
    stampOf(sources({ 'src/a.ts': '12', 'src/b/c.ts': '', 'index.html': '3', '../contract/src/d.ts': '4' })),
  ).not.toBe(stamp);
  expect(stampOf(sources({ ...FILES, 'src/a.test.ts': 'x' }))).toBe(stamp);
});
