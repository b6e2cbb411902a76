import Type from 'typebox';
import { type Role, ROLES } from './access.ts';
import { FILTER, PAGE, item, list, oneOf, raw } from './envelope.ts';

/** The signed-in member and the installation. Every page loads it first, signed in or not. */
export type SessionState = {
  /** False: no account exists yet, and the server printed a setup link at its start. */
  set_up: boolean;
  /** Null: not signed in. */
  member: SignedIn | null;
  organizations: OrganizationOfMine[];
  /** The number of projects that the member can open. */
  projects: number;
  installation: InstallationState;
};

export type SignedIn = {
  id: string;
  name: string;
  email: string;
  /** True if sign-in needs a code of an authenticator app after the password. */
  two_factor: boolean;
};

export type OrganizationOfMine = {
  id: string;
  name: string;
  role: Role;
  requires_two_factor: boolean;
  /** The organization requires an authenticator app that the member has not set up. Until then its projects stay closed. */
  must_set_up_two_factor: boolean;
  /** True if the member receives the digest email about drafts and problems that need attention. */
  wants_digest: boolean;
};

export type InstallationState = {
  public_url: string;
  /** True if emails go only to the test inbox of this machine, because no relay is set. */
  test_inbox: boolean;
  /** Host and port of the relay; null: emails go to the test inbox. */
  relay: string | null;
  mail_from: string | null;
  has_model: boolean;
  version: string;
};

/** The purpose of a link, for its holder. */
export type LinkState = {
  kind: 'setup' | 'invite' | 'reset';
  /** The address that the link is for; null: it is a setup link. */
  email: string | null;
  organization: string | null;
  role: Role | null;
  /** True if the address has an account. Joining then needs its sign-in and no new password. */
  has_account: boolean;
  expires_at: string;
};

export type SignInStatus = {
  signed_in: boolean;
  /** The password is correct, and a second factor is needed. */
  two_factor: boolean;
};

export type SessionListed = {
  id: string;
  /** The User-Agent header of the browser. */
  user_agent: string | null;
  address: string | null;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  current: boolean;
};

export type PasskeyListed = { id: string; name: string; created_at: string };

export type MemberListed = {
  id: string;
  name: string;
  email: string;
  role: Role;
  two_factor: boolean;
  joined_at: string;
  last_seen_at: string | null;
  is_you: boolean;
};

export type InviteListed = {
  id: string;
  email: string;
  role: Role;
  created_at: string;
  expires_at: string;
  /** The member who sent the invitation; null: a command did. */
  by: string | null;
};

/** `link` is shown only once. `emailed`: whether the invitation was also sent by email. */
export type CreatedInvite = InviteListed & { link: string; emailed: boolean };

export type OrganizationDetails = { id: string; name: string; requires_two_factor: boolean };

export type AuditListed = {
  id: string;
  at: string;
  /** Null: the entry concerns the organization, not a project. */
  project: { id: number; name: string } | null;
  actor: string;
  actor_name: string;
  /** The label of the personal access token that was used; null: done in the dashboard or by a command. */
  token: string | null;
  action: string;
  subject: string | null;
  before: unknown;
  after: unknown;
  /** False: the change was started, and its outcome is unknown. */
  completed: boolean;
};

const AUDIT = {
  /** `team:<id>`, `local-shell`, or `operator` for a command of `beckon-server`. */
  actor: Type.Optional(Type.String({ maxLength: 200 })),
  /** A prefix of the action, such as `draft.`. */
  action: Type.Optional(Type.String({ maxLength: 100 })),
  /** Changes in this project only, or in its whole organization (the default). */
  scope: Type.Optional(oneOf(['project', 'organization'])),
};

const Text = Type.String({ maxLength: 1_000 });
const LinkToken = Type.String({ maxLength: 200 });
const Password = Type.Object({ password: Text });
const RoleSchema = oneOf(ROLES);

/** A credential id has at most 1023 bytes (WebAuthn), in base64url. The library checks its other properties. */
const CredentialId = Type.String({ pattern: '^[\\w-]+$', maxLength: 1_364 });
/** The value that `navigator.credentials.get` returned. */
const PasskeyResponse = Type.Unsafe<{ id: string; [name: string]: unknown }>(
  Type.Object({ id: CredentialId }, { additionalProperties: true }),
);

export const TEAM_API = {
  // Before signing in.
  'GET /session': { response: item<SessionState>() },
  'GET /links': {
    query: Type.Object({ token: LinkToken }),
    response: item<LinkState>(),
  },
  'POST /setup': {
    body: Type.Object({
      token: LinkToken,
      email: Text,
      password: Text,
      project: Text,
      /** Default: the part of the address before the @. */
      name: Type.Optional(Text),
      /** Default: the name of the project. */
      organization: Type.Optional(Text),
      time_zone: Type.Optional(Text),
    }),
    response: item<{ project_id: number | null }>(),
  },
  'POST /sign-in': { body: Type.Object({ email: Text, password: Text }), response: item<SignInStatus>() },
  'POST /sign-in/totp': { body: Type.Object({ code: Text }), response: item<SignInStatus>() },
  'POST /sign-in/backup-code': { body: Type.Object({ code: Text }), response: item<SignInStatus>() },
  'POST /sign-in/passkey-options': { response: item<Record<string, unknown>>() },
  'POST /sign-in/passkey': {
    body: Type.Object({ response: PasskeyResponse }),
    response: item<SignInStatus>(),
  },
  'POST /forgot': { body: Type.Object({ email: Text }), response: item<{ requested: boolean }>() },
  'POST /reset': {
    body: Type.Object({ token: LinkToken, password: Text }),
    response: item<{ reset: boolean }>(),
  },
  /** With name and password, creates the account. A member who is signed in with the invited address passes neither. */
  'POST /invites/accept': {
    body: Type.Object({ token: LinkToken, name: Type.Optional(Text), password: Type.Optional(Text) }),
    response: item<{ organization: string; role: Role }>(),
  },

  // For the signed-in member.
  'POST /sign-out': { response: item<{ signed_out: boolean }>() },
  'POST /profile': { body: Type.Object({ name: Text }), response: item<{ name: string }>() },
  'POST /organizations/:organization/digest': {
    body: Type.Object({ enabled: Type.Boolean() }),
    response: item<{ enabled: boolean }>(),
  },
  /** `end_passkeys_and_tokens`: default true. All other sessions always end. */
  'POST /password': {
    body: Type.Object({
      current: Text,
      new: Text,
      end_passkeys_and_tokens: Type.Optional(Type.Boolean()),
    }),
    response: item<{ changed: boolean }>(),
  },
  /** Confirms the member's identity for ten minutes. `code`: of the authenticator app, or a backup code, if one is set up. */
  'POST /confirm': {
    body: Type.Object({ password: Text, code: Type.Optional(Text) }),
    response: item<{ confirmed: boolean }>(),
  },
  'POST /confirm/passkey-options': { response: item<Record<string, unknown>>() },
  'POST /confirm/passkey': {
    body: Type.Object({ response: PasskeyResponse }),
    response: item<{ confirmed: boolean }>(),
  },
  'POST /two-factor/begin': {
    body: Password,
    response: item<{ uri: string; backup_codes: string[] }>(),
  },
  'POST /two-factor/confirm': {
    body: Type.Object({ code: Text }),
    response: item<{ two_factor: boolean }>(),
  },
  'POST /two-factor/end': { body: Password, response: item<{ two_factor: boolean }>() },
  'POST /two-factor/backup-codes': {
    body: Password,
    response: item<{ backup_codes: string[] }>(),
  },
  'GET /passkeys': { response: list<PasskeyListed>() },
  'POST /passkeys/options': { response: item<Record<string, unknown>>() },
  'POST /passkeys': {
    body: Type.Object({ response: Type.Record(Type.String(), Type.Unknown()), name: Text }),
    response: item<PasskeyListed>(),
  },
  'POST /passkeys/:passkey/delete': { response: item<{ deleted: boolean }>() },
  'GET /sessions': { response: list<SessionListed>() },
  'POST /sessions/:session/end': { response: item<{ ended: number }>() },
  'POST /sessions/end-others': { response: item<{ ended: number }>() },

  // For the organization of a project.
  'GET /projects/:project/organization': { response: item<OrganizationDetails>() },
  'POST /projects/:project/organization': {
    body: Type.Object({
      name: Type.Optional(Type.String({ maxLength: 1_000 })),
      requires_two_factor: Type.Optional(Type.Boolean()),
    }),
    response: item<OrganizationDetails>(),
  },
  /** Without `limit`: all of them. */
  'GET /projects/:project/members': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER }),
    response: list<MemberListed>(),
  },
  'GET /projects/:project/members.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  /** `:member`: the id or the email address of a member. */
  'POST /projects/:project/members/:member/role': {
    body: Type.Object({ role: RoleSchema }),
    response: item<MemberListed>(),
  },
  'POST /projects/:project/members/:member/remove': { response: item<{ removed: boolean }>() },
  'GET /projects/:project/invites': { response: list<InviteListed>() },
  'POST /projects/:project/invites': {
    body: Type.Object({ email: Type.String({ maxLength: 1_000 }), role: RoleSchema }),
    response: item<CreatedInvite>(),
  },
  /** `:invite`: the id of an invitation, or the email address that was invited. */
  'POST /projects/:project/invites/:invite/revoke': { response: item<{ revoked: boolean }>() },
  /** Sends a test email from the installation to the caller, to check that sending works. */
  'POST /projects/:project/test-email': { response: item<{ to: string; test_inbox: boolean }>() },
  'GET /projects/:project/audit': {
    query: Type.Object({ ...PAGE, ...AUDIT, filter: FILTER }),
    response: list<AuditListed>(),
  },
  'GET /projects/:project/audit.csv': {
    query: Type.Object({ ...AUDIT, filter: FILTER }),
    response: raw(),
  },
};
