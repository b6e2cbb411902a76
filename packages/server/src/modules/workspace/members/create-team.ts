import type { Role } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import type { Log } from '../../../platform/log.ts';
import type { ConnectionSource } from '../../../platform/db/connections.ts';
import type { Database } from '../../../platform/db/database.ts';
import { openSignInDatabase } from '../../../platform/db/sign-in-database.ts';
import type { createSignIns, SignIns } from './sign-ins.ts';
import { cookieNames, readSignedCookie } from './cookies.ts';
import { LOCAL_SHELL, LOCAL_SHELL_ACTOR } from './local-shell.ts';
import {
  findMemberByToken,
  findRole,
  listNames,
  listOrganizationsOf,
  listOrganizationsToMakeIn,
  listRoles,
} from './reads.ts';
import type { Access } from './team.ts';

export type TeamOptions = {
  db: Database;
  connection: ConnectionSource;
  /** The connection uses a pooler in transaction mode. */
  isPooled?: boolean;
  publicOrigin: string;
  /** The current secret first. */
  secrets: readonly [string, ...string[]];
  log: Log;
};

/** The public API for signing in and for looking up members. */
export type Team = Access & {
  /** The sign-in functions, loaded on the first sign-in. */
  signIns(): Promise<SignIns>;
  close(): Promise<void>;
};

export function createTeam(options: TeamOptions): Team {
  const { db, connection, isPooled = false, publicOrigin, secrets, log } = options;
  const signIn = openSignInDatabase(connection, isPooled);
  const cookie = { name: cookieNames(publicOrigin).session, secret: secrets[0] };
  let signIns: Promise<SignIns> | null = null;
  return {
    async findMember(headers) {
      const token = readSignedCookie(headers, cookie);
      return token === null ? null : ((await findMemberByToken(db, token)) ?? null);
    },
    async roleIn(memberId, projectId) {
      const found = await findRole(db, memberId, projectId);
      if (found?.lacksFactor) throw lacksFactor();
      return found?.role ?? null;
    },
    async rolesOf(memberId) {
      const rows = await listRoles(db, memberId);
      return new Map<number, Role>(rows.map(({ projectId, role }) => [projectId, role]));
    },
    organizationsOf: (memberId) => listOrganizationsOf(db, memberId),
    organizationsToMakeIn: (memberId) => listOrganizationsToMakeIn(db, memberId),
    async namesOf(actors) {
      const ids = actors.filter((actor) => actor.startsWith(TEAM)).map((actor) => actor.slice(TEAM.length));
      const rows = ids.length === 0 ? [] : await listNames(db, ids);
      const names = new Map(rows.map(({ id, name }) => [`${TEAM}${id}`, name]));
      return names.set(LOCAL_SHELL_ACTOR, LOCAL_SHELL.name);
    },
    signIns() {
      signIns ??= load(db, { database: signIn.options, publicOrigin, secrets, log });
      return signIns;
    },
    close: () => signIn.close(),
  };
}

const TEAM = 'team:';

/** Commands load this folder too, and most of them never need this. */
async function load(...args: Parameters<typeof createSignIns>): Promise<SignIns> {
  const made = await import('./sign-ins.ts');
  return made.createSignIns(...args);
}

function lacksFactor(): Fault {
  const message = 'Your organization requires an authenticator app. Set one up in your profile first';
  return new Fault('role_required', { details: [{ message }] });
}
