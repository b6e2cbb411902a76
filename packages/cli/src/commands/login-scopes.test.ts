import { describe, expect, test } from 'vitest';
import { askScopes } from './login-scopes.ts';

function terminal(typed: string | null) {
  const shown = { text: '' };
  const shell = {
    stderr: { isTerminal: true, columns: () => 80, write: async (text: string) => void (shown.text += text) },
    ask: { confirm: async () => null, secret: async () => null, text: async () => typed },
  };
  return { shown, shell };
}

describe('askScopes', () => {
  test('explains each scope, and takes read, review and edit on Enter', async () => {
    const { shell, shown } = terminal('');
    expect(await askScopes(shell)).toEqual(['read', 'review', 'edit']);
    for (const scope of ['read', 'review', 'edit', 'admin', 'import'])
      expect(shown.text).toMatch(new RegExp(`^ {2}${scope} +\\w`, 'm'));
  });

  test('takes typed scopes instead, each once', async () => {
    expect(await askScopes(terminal('read, admin,read').shell)).toEqual(['read', 'admin']);
  });

  test('ends with 2 for an unknown scope, and with 130 when canceled', async () => {
    const message = 'scopes: everything is not one of read, review, edit, admin, import';
    await expect(askScopes(terminal('everything').shell)).rejects.toMatchObject({ exit: 2, message });
    await expect(askScopes(terminal(null).shell)).rejects.toMatchObject({ exit: 130 });
  });
});
