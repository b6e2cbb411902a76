import type { TokenState } from '@beckon/contract/dashboard';
import { listProjects } from '../projects/list-projects.ts';
import type { HeldToken } from './token.ts';
import type { KitDeps } from '../dashboard-api/kit-deps.ts';

type Deps = KitDeps;

/** Returns the state of a token to its holder; it opens whatever its member may open now. */
export async function stateOf(
  { db, access }: Pick<Deps, 'db' | 'access'>,
  { label, scopes, expiresAt, person }: HeldToken,
): Promise<TokenState> {
  const roles = await access.rolesOf(person.id);
  const projects = (await listProjects(db)).filter(({ id }) => roles.has(id));
  return {
    label,
    scopes,
    expires_at: expiresAt.toISOString(),
    member: { name: person.name, email: person.email },
    projects: projects.map(({ id, name }) => ({ id, name })),
  };
}
