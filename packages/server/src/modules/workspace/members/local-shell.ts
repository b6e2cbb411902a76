import type { Database } from '../../../platform/db/database.ts';
import { hasProject, listAllProjectIds, listOrganizations, listOrganizationsAsOwner } from './reads.ts';
import type { Access, SignedInMember } from './team.ts';

/**
 * The caller on the local socket. It has no account, so it has no email address, session or token. The server recognizes such a request by
 * its listener. A request cannot claim this identity.
 */
export const LOCAL_SHELL: SignedInMember = {
  id: 'local-shell',
  name: 'local shell',
  email: '',
  sessionId: '',
  confirmedAt: null,
};

/** The actor as stored with its changes. Members are `team:<id>`. */
export const LOCAL_SHELL_ACTOR = 'local-shell';

export function isLocalShell({ id }: Pick<SignedInMember, 'id'>): boolean {
  return id === LOCAL_SHELL.id;
}

/** Returns the access of an owner of every project and every organization. */
export function localShellAccess(db: Pick<Database, 'query'>, { namesOf }: Pick<Access, 'namesOf'>): Access {
  return {
    findMember: () => Promise.resolve(LOCAL_SHELL),
    roleIn: async (_memberId, projectId) => ((await hasProject(db, projectId)) ? 'owner' : null),
    rolesOf: async () => new Map((await listAllProjectIds(db)).map((id) => [id, 'owner'])),
    organizationsOf: () => listOrganizationsAsOwner(db),
    organizationsToMakeIn: () => listOrganizations(db),
    namesOf,
  };
}
