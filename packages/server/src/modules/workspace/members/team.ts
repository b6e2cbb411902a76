import type { IncomingHttpHeaders } from 'node:http';
import type { OrganizationListed, Role } from '@beckon/contract/dashboard';

/** A signed-in member. `confirmedAt`: when they last proved their identity in this session. */
export type SignedInMember = {
  id: string;
  name: string;
  email: string;
  sessionId: string;
  confirmedAt: Date | null;
};

/** The functions by which other modules look up members. */
export type Access = {
  /** Returns the member who sent the request, or null if there is no valid session. */
  findMember(headers: IncomingHttpHeaders): Promise<SignedInMember | null>;
  /** Returns this member's role in a project. Null: they have none, or the project does not exist. */
  roleIn(memberId: string, projectId: number): Promise<Role | null>;
  /** Returns this member's roles in all of their projects. */
  rolesOf(memberId: string): Promise<ReadonlyMap<number, Role>>;
  /** Returns the organizations to which this member has access, oldest first. */
  organizationsOf(memberId: string): Promise<OrganizationListed[]>;
  /** Returns the organizations in which this member may create projects. */
  organizationsToMakeIn(memberId: string): Promise<{ id: string; name: string }[]>;
  /** Returns names by actor (`team:<id>`), for lists that show who did something. */
  namesOf(actors: string[]): Promise<ReadonlyMap<string, string>>;
};

/** The sender of a request: its headers, and the address from which it came. */
export type Caller = { headers: IncomingHttpHeaders; address: string };

/** Cookies for the browser, in addition to the answer. */
export type WithCookies<T> = { result: T; cookies: string[] };

/** If an authenticator app is set up, a code is required, and `personId` is null until it was sent. */
export type SignInResult = { memberId: string | null; needsCode: boolean };

export const PASSWORD_MIN_CHARS = 12;
export const PASSWORD_MAX_CHARS = 256;

/** A session ends 30 days after its last use. */
export const SESSION_S = 30 * 24 * 60 * 60;
