import type { Database } from '../../io/db/index.ts';
import { hasProject, listAllProjectIds, listOrganizations, listOrganizationsAsOwner } from './reads.ts';
import type { Access, Person } from './team.ts';

/**
 * The caller on the local socket. It has no account, so no email address, session or token.
 * The server decides by its listener that a request comes from here; nothing in a request can claim it.
 */
export const LOCAL_SHELL: Person = {
  id: 'local-shell',
  name: 'local shell',
  email: '',
  sessionId: '',
  confirmedAt: null,
};

/** As it is stored with what it changes. Members are `team:<id>`. */
export const LOCAL_SHELL_ACTOR = 'local-shell';

export function isLocalShell({ id }: Pick<Person, 'id'>): boolean {
  return id === LOCAL_SHELL.id;
}

/** Owner of every project, and of every organization. */
export function localShellAccess(db: Pick<Database, 'query'>, { namesOf }: Pick<Access, 'namesOf'>): Access {
  return {
    who: () => Promise.resolve(LOCAL_SHELL),
    roleIn: async (_personId, projectId) => ((await hasProject(db, projectId)) ? 'owner' : null),
    rolesOf: async () => new Map((await listAllProjectIds(db)).map((id) => [id, 'owner'])),
    organizationsOf: () => listOrganizationsAsOwner(db),
    organizationsToMakeIn: () => listOrganizations(db),
    namesOf,
  };
}
