import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testShell } from '../../testkit/shell.ts';

const shell = testShell();

const MAIN = join(import.meta.dirname, '../main.ts');

/** Returns the candidates of bash after these words. */
async function completed(words: string[]): Promise<string[]> {
  const { out: script } = await shell.run(['completion', 'bash']);
  const typed = `beckon() { "$NODE" "$MAIN" "$@"; }
${script}
COMP_WORDS=(beckon "$@"); COMP_CWORD=$#; _beckon; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, NODE: process.execPath, MAIN };
  return execFileSync('bash', ['-c', typed, 'bash', ...words], { env })
    .toString()
    .trim()
    .split('\n');
}

describe('completion', () => {
  test('offers nouns, verbs and options in bash', async () => {
    expect(await completed(['dra'])).toEqual(['drafts']);
    expect(await completed(['drafts', 'po'])).toEqual(['postpone']);
    expect(await completed(['drafts', 'postpone', '--unt'])).toEqual(['--until']);
    expect(await completed(['--quiet', 'imports', 'users', '--dry'])).toEqual(['--dry-run']);
    expect(await completed(['rules', 'list', '--proj'])).toEqual(['--project']);
  });

  test('has a script for each shell, and rejects others', async () => {
    for (const [name, words] of [
      ['zsh', '#compdef beckon'],
      ['fish', 'complete -c beckon'],
    ] as const)
      expect(await shell.run(['completion', name])).toMatchObject({
        code: 0,
        out: expect.stringContaining(words),
      });
    expect((await shell.run(['completion', 'csh'])).code).toBe(2);
  });
});
