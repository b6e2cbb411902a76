import { TOKEN_SCOPES, type TokenScope } from '@beckon/contract/dashboard';
import { requireAnswer } from '../failure.ts';
import { listOf } from '../framework/options.ts';
import type { Shell } from '../shell.ts';

/** The scopes of a new token, unless the member chooses others. The role limits it further. */
export const DEFAULT_SCOPES: TokenScope[] = ['read', 'review', 'edit'];

const SCOPE_HELP: Record<TokenScope, string> = {
  read: 'view users, drafts, emails, rules and activity',
  review: 'approve, skip, postpone and resend drafts',
  edit: 'edit drafts, rules, audiences and templates',
  admin: 'manage keys, webhooks, domains, settings and members; export and erase users',
  import: 'import users and events',
};

/** Asks for the scopes of a new token; Enter takes the default. */
export async function promptScopes({
  prompts,
  stderr,
}: Pick<Shell, 'prompts' | 'stderr'>): Promise<TokenScope[]> {
  const lines = TOKEN_SCOPES.map((scope) => `  ${scope.padEnd(7)} ${SCOPE_HELP[scope]}\n`);
  await stderr.write(`What may this machine do? Your role in each project is the limit.\n${lines.join('')}`);
  const typed = requireAnswer(
    await prompts.text(`Scopes, separated by commas (Enter for ${DEFAULT_SCOPES.join(',')})`),
  );
  if (typed.trim() === '') return DEFAULT_SCOPES;
  return listOf(typed, TOKEN_SCOPES, 'scopes');
}
