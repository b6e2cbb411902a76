import type { TokenListed } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { displayToken, type HeldToken, type ListedToken } from './token.ts';
import { listTokens, revokeToken } from './own-tokens.ts';
import { routesFor } from '../dashboard-api/route.ts';
import { stateOf } from './token-state.ts';
import { wholeList } from '../dashboard-api/whole-list.ts';

const { route } = routesFor();

/** Personal tokens: those of the member who is signed in, and the one that a program sends. */
export const tokenRoutes = [
  route('GET /profile/tokens', {
    needs: 'signed_in',
    isAccount: true,
    scope: 'read',
    async handle(deps, { person }) {
      return wholeList((await listTokens(deps, person.id)).map(toListed));
    },
  }),
  route('POST /profile/tokens/:token/revoke', {
    needs: 'signed_in',
    isAccount: true,
    scope: 'edit',
    audit: 'token.revoke',
    async handle(deps, { person, params, note }) {
      const revoked = toListed(await revokeToken(deps, { id: params.token, personId: person.id }));
      note({ subject: revoked.label, after: { revoked_at: revoked.revoked_at } });
      return { data: revoked };
    },
  }),
  route('GET /token', {
    needs: 'signed_in',
    isAccount: true,
    scope: 'any',
    async handle(deps, { token }) {
      return { data: await stateOf(deps, required(token)) };
    },
  }),
  route('POST /token/revoke', {
    needs: 'signed_in',
    isAccount: true,
    scope: 'any',
    audit: 'token.revoke',
    async handle(deps, { person, token, note }) {
      const { id, label } = required(token);
      await revokeToken(deps, { id, personId: person.id });
      note({ subject: label });
      return { data: { revoked: true } };
    },
  }),
];

/** A caller with a session has no token that this route could be about. */
function required(token: HeldToken | null): HeldToken {
  if (token) return token;
  const message = 'This request requires a personal access token. Manage yours in your profile';
  throw new Fault('not_found', { details: [{ message }] });
}

function toListed({ id, label, scopes, last4, ...token }: ListedToken): TokenListed {
  return {
    id,
    label,
    scopes,
    display: displayToken(last4),
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  };
}
