import { TOKEN_SCOPES, type TokenScope } from '@beckon/contract/dashboard';
import { answered, usage } from '../failure.ts';
import type { Shell } from '../shell.ts';

/** What a new token may do unless the member says otherwise. The role limits it further. */
export const DEFAULT_SCOPES: readonly TokenScope[] = ['read', 'review', 'edit'];

const SCOPE_HELP: Record<TokenScope, string> = {
  read: 'view users, drafts, emails, rules and activity',
  review: 'approve, skip, postpone and resend drafts',
  edit: 'edit drafts, rules, audiences and templates',
  admin: 'manage keys, webhooks, domains, settings and members; export and erase users',
  import: 'import users and events',
};

type Choosing = {
  shell: Pick<Shell, 'ask' | 'stderr'>;
  /** Those of `--scopes`. */
  given: string[] | undefined;
  /** A person is at the terminal. */
  canAsk: boolean;
};

/** The scopes to request. Without `--scopes` it asks at a terminal, and takes the default elsewhere. */
export async function chooseScopes({ shell, given, canAsk }: Choosing): Promise<TokenScope[]> {
  if (given !== undefined) return readScopes(given);
  if (!canAsk) return [...DEFAULT_SCOPES];
  const lines = TOKEN_SCOPES.map((scope) => `  ${scope.padEnd(7)} ${SCOPE_HELP[scope]}\n`);
  await shell.stderr.write(
    `What may this machine do? Your role in each project is the limit.\n${lines.join('')}`,
  );
  const typed = answered(
    await shell.ask.text(`Scopes, separated by commas (Enter for ${DEFAULT_SCOPES.join(',')})`),
  );
  return typed.trim() === '' ? [...DEFAULT_SCOPES] : readScopes(typed.split(','));
}

function readScopes(given: string[]): TokenScope[] {
  const names = [...new Set(given.map((name) => name.trim()))];
  return names.map((name) => {
    const scope = TOKEN_SCOPES.find((one) => one === name);
    if (scope === undefined)
      throw usage(`--scopes: unknown scope ${name}. Use any of ${TOKEN_SCOPES.join(', ')}`, '--scopes');
    return scope;
  });
}
