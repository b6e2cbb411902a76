import { describe, expect, test } from 'vitest';
import { promptScopes } from './login-scopes.ts';

function terminal(typed: string | null) {
  const output = { text: '' };
  const shell = {
    stderr: {
      isTerminal: true,
      columns: () => 80,
      write: async (text: string) => void (output.text += text),
    },
    prompts: { confirm: async () => null, secret: async () => null, text: async () => typed },
  };
  return { output, shell };
}

describe('promptScopes', () => {
  test('explains each scope, and takes read, review and edit on Enter', async () => {
    const { shell, output } = terminal('');
    expect(await promptScopes(shell)).toEqual(['read', 'review', 'edit']);
    for (const scope of ['read', 'review', 'edit', 'admin', 'import'])
      expect(output.text).toMatch(new RegExp(`^ {2}${scope} +\\w`, 'm'));
  });

  test('takes typed scopes instead, each once', async () => {
    expect(await promptScopes(terminal('read, admin,read').shell)).toEqual(['read', 'admin']);
  });

  test('ends with 2 for an unknown scope, and with 130 when canceled', async () => {
    const message = 'scopes: everything is not one of read, review, edit, admin, import';
    await expect(promptScopes(terminal('everything').shell)).rejects.toMatchObject({ exit: 2, message });
    await expect(promptScopes(terminal(null).shell)).rejects.toMatchObject({ exit: 130 });
  });
});
