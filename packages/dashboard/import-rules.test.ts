import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

/**
 * A lint pattern that allows something can disable others unnoticed. So this test creates files that break the import rules, and lints
 * them.
 */
const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'import-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));
cpSync(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));

const DASHBOARD = 'packages/dashboard/src';

type Planted = { file: string; wrong: string[]; right: string[] };
const PLANTED: Planted[] = [
  {
    file: `${DASHBOARD}/screens/test-inbox/x.ts`,
    wrong: [
      '../review/x.ts',
      '../../screens/review/x.ts',
      '../../app/shell.tsx',
      '../../app/roots.tsx',
      '../../api/client.ts',
      '@beckon/server',
    ],
    right: ['../../api/index.ts', '../../parts/x.tsx', '@beckon/contract/dashboard'],
  },
  {
    file: `${DASHBOARD}/parts/x.ts`,
    wrong: ['../screens/review/x.ts', '../app/shell.tsx', '@beckon/server'],
    right: ['./y.tsx', '@beckon/contract/dashboard'],
  },
];

for (const { file, wrong, right } of PLANTED) {
  mkdirSync(join(folder, dirname(file)), { recursive: true });
  const lines = [...wrong, ...right].map((path, i) => `export { a as a${i} } from '${path}';\n`);
  writeFileSync(join(folder, file), lines.join(''));
}

const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/oxlint'), ['--format', 'unix', 'packages'], {
  cwd: folder,
  encoding: 'utf8',
});

test.each(PLANTED)('reports $file at its forbidden import, and nowhere else', ({ file, wrong }) => {
  const lines = stdout
    .split('\n')
    .filter((line) => line.startsWith(`${file}:`) && line.includes('restricted'));
  const at = new Set(lines.map((line) => Number(line.slice(file.length + 1).split(':', 1)[0])));
  expect([...at].toSorted((a, b) => a - b)).toEqual(wrong.map((_, i) => i + 1));
});
