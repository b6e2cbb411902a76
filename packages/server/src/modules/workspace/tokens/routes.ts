import type { TokenListed, TokenState } from '@beckon/contract/dashboard';
import { wholeList } from '../dashboard-api/pages.ts';
import { type KitDeps, routesFor } from '../dashboard-api/route.ts';
import { listProjects } from '../projects/project.ts';
import { listTokenRows, updateRevoked } from './store.ts';
import { ENDED_KEPT_MS, type PersonalToken } from './token.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';

const { route } = routesFor();

/** Personal tokens: those of the member who is signed in, and the one that a program sends. */
export const tokenRoutes = [
  route('GET /profile/tokens', {
    needs: 'signed_in',
    isAccount: true,
    scope: 'read',
    async handle(deps, { member }) {
      return wholeList(await listTokens(deps, member.id));
    },
  }),
  route('POST /profile/tokens/:token/revoke', {
    needs: 'signed_in',
    isAccount: true,
    scope: 'edit',
    audit: 'token.revoke',
    async handle(deps, { member, params, note }) {
      const revoked = await revokeToken(deps, { id: params.token, memberId: member.id });
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
    async handle(deps, { member, token, note }) {
      const { id, label } = required(token);
      await revokeToken(deps, { id, memberId: member.id });
      note({ subject: label });
      return { data: { revoked: true } };
    },
  }),
];

/** A caller with a session has no token that this route could be about. */
function required(token: PersonalToken | null): PersonalToken {
  if (token) return token;
  const message = 'This request requires a personal access token. Manage yours in your profile';
  throw new Fault('not_found', { details: [{ message }] });
}

type Deps = { db: Pick<Database, 'query' | 'prepared' | 'clock'> };

const LIST_MAX = 200;

/** Returns live tokens, and those that ended recently. */
async function listTokens({ db }: Deps, memberId: string): Promise<TokenListed[]> {
  const endedSince = new Date(db.clock.now() - ENDED_KEPT_MS);
  return listTokenRows(db, { userId: memberId, endedSince, limit: LIST_MAX });
}

/** Revokes a token from the next request on. Event streams that it has open end within half a minute. */
async function revokeToken(
  { db }: Deps,
  { id, memberId }: { id: string; memberId: string },
): Promise<TokenListed> {
  const now = db.clock.now();
  const revoked = await updateRevoked(db, { id, userId: memberId, at: new Date(now) });
  if (revoked) return revoked;
  const message = 'You have no token with this ID';
  throw new Fault('not_found', { details: [{ message, field: 'token' }] });
}

type StateDeps = KitDeps;

/** Returns the state of a token to its holder; it opens whatever its member may open now. */
export async function stateOf(
  { db, access }: Pick<StateDeps, 'db' | 'access'>,
  { label, scopes, expiresAt, member }: PersonalToken,
): Promise<TokenState> {
  const roles = await access.rolesOf(member.id);
  const projects = (await listProjects(db)).filter(({ id }) => roles.has(id));
  return {
    label,
    scopes,
    expires_at: expiresAt.toISOString(),
    member: { name: member.name, email: member.email },
    projects: projects.map(({ id, name }) => ({ id, name })),
  };
}
