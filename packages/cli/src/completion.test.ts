import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { testShell } from '../testkit/shell.ts';

const shell = testShell();

async function completed(words: string[]): Promise<string[]> {
  const script = (await shell.type(['completion', 'bash'])).out;
  const asked = `${script}
COMP_WORDS=(beckon "$@"); COMP_CWORD=$#; _beckon; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', asked, 'bash', ...words])
    .toString()
    .trim()
    .split('\n');
}

test('bash completes commands, what is below them, and options', async () => {
  expect(await completed(['dra'])).toEqual(['drafts']);
  expect(await completed(['drafts', 'po'])).toEqual(['postpone']);
  expect(await completed(['drafts', 'postpone', '--unt'])).toEqual(['--until']);
  expect(await completed(['--quiet', 'users', 'import', '--dry'])).toEqual(['--dry-run']);
  expect(await completed(['rules', 'test', 'welcome', '--proj'])).toEqual(['--project']);
});

test('the scripts of all shells are made, and no other is', async () => {
  for (const [name, words] of [
    ['zsh', '#compdef beckon'],
    ['fish', 'complete -c beckon'],
  ] as const) {
    const ran = await shell.type(['completion', name]);
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining(words)]);
    expect(ran.out).toContain('postpone');
  }
  expect((await shell.type(['completion', 'csh'])).code).toBe(2);
});
