import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { exceeds, measure, shareOf } from './prose/measure.ts';
import { surfaceOf } from './prose/surfaces.ts';

const SCRIPT = join(import.meta.dirname, 'check-prose.ts');
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** Runs the check in a folder with these files. */
function check(files: Record<string, string>, ...paths: string[]): { status: number | null; stdout: string } {
  const root = mkdtempSync(join(tmpdir(), 'prose-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return spawnSync(process.execPath, [SCRIPT, ...paths], { cwd: root, encoding: 'utf8' });
}

describe('check-prose', () => {
  test('passes plain pages, and counts the sentences of each surface', () => {
    const { status, stdout } = check({ 'docs/decisions/1.md': 'A plain sentence. Another one.' });
    expect(stdout).toMatch(/^decisions +2 +headless +0\.0 % of 1 %/);
    expect(status).toBe(0);
  });

  test('fails above a bound with file, line and the suggested term', () => {
    const { status, stdout } = check({ 'docs/decisions/1.md': '# A title\n\nThe letter is sent.\n' });
    expect(stdout).toContain('decisions: term is above its bound of 0.3 %');
    expect(stdout).toContain('docs/decisions/1.md:3  "letter": say email\n    The letter is sent.');
    expect(status).toBe(1);
  });

  test('lists the findings of the given paths without failing', () => {
    const files = { 'docs/decisions/1.md': 'The letter is sent.', 'docs/decisions/2.md': 'Nobody waits.' };
    const { status, stdout } = check(files, './docs/decisions/2.md');
    expect(stdout).toMatch(
      /^docs\/decisions\/2\.md:1 {2}"Nobody": say the noun.*\n {4}Nobody waits\.\n1 findings\n$/,
    );
    expect(status).toBe(0);
  });

  test('skips dependencies, builds, and recipient texts in other languages', () => {
    const { stdout } = check({
      'node_modules/a/README.md': 'Read the letter.',
      'packages/client/dist/README.md': 'Read the letter.',
      'packages/server/src/platform/recipient-texts/de.ts': "export const a = 'Nobody told the letter';",
    });
    expect(stdout).not.toMatch(/ [1-9]\d* {2}headless/);
  });
});

describe('measure', () => {
  test('counts a sentence with two wrong words once per rule', () => {
    const text = 'Nobody sends a letter. This is plain. So is this. And this.';
    const decisions = measure([{ path: 'docs/decisions/1.md', text }]).find(
      ({ surface }) => surface.name === 'decisions',
    );
    expect(decisions?.findings).toHaveLength(3);
    expect(decisions && shareOf(decisions, 'term')).toBe(25);
    expect(decisions && exceeds(decisions, 'term')).toBe(true);
    expect(decisions && exceeds(decisions, 'long')).toBe(false);
  });
});

describe('surfaceOf', () => {
  test.each([
    ['document', 'docs/decisions/0001.md', 'decisions'],
    ['document', 'SECURITY.md', 'contributor pages'],
    ['document', '.github/ISSUE_TEMPLATE/bug.yml', 'contributor pages'],
    ['document', 'docs/api.md', 'docs'],
    ['document', 'README.md', 'docs'],
    ['document', 'ops/prometheus/alerts.yml', 'alerts'],
    ['string', 'packages/dashboard/src/app/shell.tsx', 'dashboard strings'],
    ['string', 'packages/cli/src/program.ts', 'CLI strings'],
    ['string', 'packages/server/src/main/commands/doctor.ts', 'CLI strings'],
    ['string', 'packages/server/src/platform/recipient-texts/en.ts', 'recipient texts'],
    ['string', 'packages/server/src/platform/http/answers.ts', 'server strings'],
    ['string', 'packages/postgres/src/home.ts', 'postgres strings'],
    ['string', 'packages/contract/src/faults.ts', 'contract'],
    ['string', 'packages/client/src/beckon.ts', 'client'],
    ['comment', 'scripts/check.ts', 'comments'],
    ['title', 'e2e/docs/links.test.ts', 'test titles'],
    ['string', 'scripts/check.ts', undefined],
  ] as const)('assigns a %s in %s to %s', (kind, file, name) => {
    expect(surfaceOf(kind, file)?.name).toBe(name);
  });
});
