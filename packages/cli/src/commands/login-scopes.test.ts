import { describe, expect, test } from 'vitest';
import { chooseScopes } from './login-scopes.ts';

function terminal(typed: string | null) {
  const shown = { text: '' };
  const shell = {
    stderr: { isTerminal: true, columns: () => 80, write: async (text: string) => void (shown.text += text) },
    ask: { confirm: async () => null, secret: async () => null, text: async () => typed },
  };
  return { shown, shell };
}

describe('chooseScopes', () => {
  test('takes the scopes of --scopes, each once, without asking', async () => {
    const { shell, shown } = terminal('admin');
    const given = ['import', ' read', 'import'];
    expect(await chooseScopes({ shell, given, canAsk: true })).toEqual(['import', 'read']);
    expect(shown.text).toBe('');
  });

  test('explains each scope at a terminal, and takes read, review and edit on Enter', async () => {
    const { shell, shown } = terminal('');
    const scopes = await chooseScopes({ shell, given: undefined, canAsk: true });
    expect(scopes).toEqual(['read', 'review', 'edit']);
    for (const scope of ['read', 'review', 'edit', 'admin', 'import'])
      expect(shown.text).toMatch(new RegExp(`^ {2}${scope} +\\w`, 'm'));
  });

  test('takes what is typed instead', async () => {
    const { shell } = terminal('read, admin');
    expect(await chooseScopes({ shell, given: undefined, canAsk: true })).toEqual(['read', 'admin']);
  });

  test('asks nothing without a terminal', async () => {
    const { shell, shown } = terminal('admin');
    expect(await chooseScopes({ shell, given: undefined, canAsk: false })).toEqual([
      'read',
      'review',
      'edit',
    ]);
    expect(shown.text).toBe('');
  });

  test('ends with 2 for an unknown scope, and with 130 when canceled', async () => {
    const { shell } = terminal(null);
    await expect(chooseScopes({ shell, given: ['everything'], canAsk: true })).rejects.toMatchObject({
      exit: 2,
      field: '--scopes',
      message: '--scopes: unknown scope everything. Use any of read, review, edit, admin, import',
    });
    await expect(chooseScopes({ shell, given: undefined, canAsk: true })).rejects.toMatchObject({
      exit: 130,
    });
  });
});
