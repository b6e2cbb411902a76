import { call, list, type Noun } from '../framework/declare.ts';

export const tokens: Noun = {
  name: 'tokens',
  help: 'List and revoke your personal tokens',
  commands: [
    list('GET /profile/tokens', 'list', {
      help: 'List your personal tokens, also those that ended in the last 30 days',
      row: (token, { when }) => ({
        id: token.id,
        label: token.label,
        token: token.display,
        scopes: token.scopes.join(', '),
        'last used': when(token.last_used_at),
        created: when(token.created_at),
        expires: when(token.expires_at),
        revoked: when(token.revoked_at),
      }),
      empty: 'No tokens yet. Create one: beckon login',
    }),
    call('POST /profile/tokens/:token/revoke', 'revoke <token>', {
      help: 'Revoke a personal token immediately and for good',
      args: { token: 'Token ID' },
      confirm: ({ token }) => `Revoke the token ${token}? Programs that use it lose access.`,
      view: ({ label, display }) => `Revoked token ${label} (${display}).`,
    }),
  ],
};
