import { call, list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';

export const tokens: Noun = {
  name: 'tokens',
  help: 'List and revoke your personal tokens',
  commands: [
    list('GET /profile/tokens', 'list', {
      help: 'List your personal tokens, also those that ended in the last 30 days',
      row: fields('id label token=display scopes last_used_at created_at expires_at revoked_at'),
      empty: 'No tokens yet. Create one: beckon login',
    }),
    call('POST /profile/tokens/:token/revoke', 'revoke <token>', {
      help: 'Revoke a personal token immediately and permanently',
      args: { token: 'Token ID' },
      confirm: ({ token }) => `Revoke the token ${token}? Programs that use it lose access.`,
      view: ({ label, display }) => `Revoked token ${label} (${display}).`,
    }),
  ],
};
