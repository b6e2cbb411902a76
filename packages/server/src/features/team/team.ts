import type { IncomingHttpHeaders } from 'node:http';
import type { Role } from '@beckon/contract/dashboard';

/** A member who is signed in. `confirmedAt`: when they last proved who they are in this session. */
export type Person = {
  id: string;
  name: string;
  email: string;
  sessionId: string;
  confirmedAt: Date | null;
};

export type OrganizationOfMember = {
  id: string;
  name: string;
  role: Role;
  requiresTwoFactor: boolean;
  /** Without sandboxes. */
  projects: number;
  members: number;
};

/** What the rest of the server wants to know of the team. */
export type Access = {
  /** Who sends this; null: nobody that we know, or whose session has ended. */
  who(headers: IncomingHttpHeaders): Promise<Person | null>;
  /** What this person may do in a project; null: it is none of theirs, or there is none. */
  roleIn(personId: string, projectId: number): Promise<Role | null>;
  /** The same of all of their projects. */
  rolesOf(personId: string): Promise<ReadonlyMap<number, Role>>;
  /** The organizations that they are a member of and that are open to them, the oldest first. */
  organizationsOf(personId: string): Promise<OrganizationOfMember[]>;
  /** Whose a project of theirs may be. */
  organizationsToMakeIn(personId: string): Promise<{ id: string; name: string }[]>;
  /** What these were called, by actor (`team:<id>`): for lists that say who did it. */
  namesOf(actors: string[]): Promise<ReadonlyMap<string, string>>;
};

/** A request of somebody who wants in, or is: its headers, and the address that it came from. */
export type Caller = { headers: IncomingHttpHeaders; address: string };

/** What the browser is to keep, beside the answer. */
export type WithCookies<T> = { answer: T; cookies: string[] };

/** A code is asked for where an authenticator app is set up: nobody is signed in before it came. */
export type SignedIn = { personId: string | null; needsCode: boolean };

export const PASSWORD_MIN_CHARS = 12;
export const PASSWORD_MAX_CHARS = 256;

/** A session ends 30 days after its last use. */
export const SESSION_S = 30 * 24 * 60 * 60;
