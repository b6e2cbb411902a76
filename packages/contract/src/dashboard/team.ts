import type { Role } from './access.ts';
import type { ListResponse, ItemResponse, PageQuery, Raw } from './envelope.ts';

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

type AuditQuery = {
  /** `team:<id>`, `local-shell`, or `operator` for a command of `beckon-server`. */
  actor?: string;
  /** A prefix of the action, such as `draft.`. */
  action?: string;
  /** Changes in this project only, or in its whole organization (the default). */
  scope?: 'project' | 'organization';
};

export type TeamApi = {
  // Before signing in.
  'GET /session': { response: ItemResponse<SessionState> };
  'GET /links': { query: { token: string }; response: ItemResponse<LinkState> };
  'POST /setup': {
    body: {
      token: string;
      email: string;
      password: string;
      project: string;
      /** Default: the part of the address before the @. */
      name?: string;
      /** Default: the name of the project. */
      organization?: string;
      time_zone?: string;
    };
    response: ItemResponse<{ project_id: number | null }>;
  };
  'POST /sign-in': { body: { email: string; password: string }; response: ItemResponse<SignInStatus> };
  'POST /sign-in/totp': { body: { code: string }; response: ItemResponse<SignInStatus> };
  'POST /sign-in/backup-code': { body: { code: string }; response: ItemResponse<SignInStatus> };
  'POST /sign-in/passkey-options': { response: ItemResponse<Record<string, unknown>> };
  'POST /sign-in/passkey': {
    body: { response: Record<string, unknown> };
    response: ItemResponse<SignInStatus>;
  };
  'POST /forgot': { body: { email: string }; response: ItemResponse<{ requested: boolean }> };
  'POST /reset': { body: { token: string; password: string }; response: ItemResponse<{ reset: boolean }> };
  /** With name and password, creates the account. A member who is signed in with the invited address passes neither. */
  'POST /invites/accept': {
    body: { token: string; name?: string; password?: string };
    response: ItemResponse<{ organization: string; role: Role }>;
  };

  // For the signed-in member.
  'POST /sign-out': { response: ItemResponse<{ signed_out: boolean }> };
  'POST /profile': { body: { name: string }; response: ItemResponse<{ name: string }> };
  'POST /organizations/:organization/digest': {
    body: { enabled: boolean };
    response: ItemResponse<{ enabled: boolean }>;
  };
  /** `end_passkeys_and_tokens`: default true. All other sessions always end. */
  'POST /password': {
    body: { current: string; new: string; end_passkeys_and_tokens?: boolean };
    response: ItemResponse<{ changed: boolean }>;
  };
  /** Confirms the member's identity for ten minutes. `code`: of the authenticator app, or a backup code, if one is set up. */
  'POST /confirm': {
    body: { password: string; code?: string };
    response: ItemResponse<{ confirmed: boolean }>;
  };
  'POST /confirm/passkey-options': { response: ItemResponse<Record<string, unknown>> };
  'POST /confirm/passkey': {
    body: { response: Record<string, unknown> };
    response: ItemResponse<{ confirmed: boolean }>;
  };
  'POST /two-factor/begin': {
    body: { password: string };
    response: ItemResponse<{ uri: string; backup_codes: string[] }>;
  };
  'POST /two-factor/confirm': { body: { code: string }; response: ItemResponse<{ two_factor: boolean }> };
  'POST /two-factor/end': { body: { password: string }; response: ItemResponse<{ two_factor: boolean }> };
  'POST /two-factor/backup-codes': {
    body: { password: string };
    response: ItemResponse<{ backup_codes: string[] }>;
  };
  'GET /passkeys': { response: ListResponse<PasskeyListed> };
  'POST /passkeys/options': { response: ItemResponse<Record<string, unknown>> };
  'POST /passkeys': {
    body: { response: Record<string, unknown>; name: string };
    response: ItemResponse<PasskeyListed>;
  };
  'POST /passkeys/:passkey/delete': { response: ItemResponse<{ deleted: boolean }> };
  'GET /sessions': { response: ListResponse<SessionListed> };
  'POST /sessions/:session/end': { response: ItemResponse<{ ended: number }> };
  'POST /sessions/end-others': { response: ItemResponse<{ ended: number }> };

  // For the organization of a project.
  'GET /projects/:project/organization': { response: ItemResponse<OrganizationDetails> };
  'POST /projects/:project/organization': {
    body: { name?: string; requires_two_factor?: boolean };
    response: ItemResponse<OrganizationDetails>;
  };
  'GET /projects/:project/members': { response: ListResponse<MemberListed> };
  /** `:member`: the id or the email address of a member. */
  'POST /projects/:project/members/:member/role': {
    body: { role: Role };
    response: ItemResponse<MemberListed>;
  };
  'POST /projects/:project/members/:member/remove': { response: ItemResponse<{ removed: boolean }> };
  'GET /projects/:project/invites': { response: ListResponse<InviteListed> };
  'POST /projects/:project/invites': {
    body: { email: string; role: Role };
    response: ItemResponse<CreatedInvite>;
  };
  /** `:invite`: the id of an invitation, or the email address that was invited. */
  'POST /projects/:project/invites/:invite/revoke': { response: ItemResponse<{ revoked: boolean }> };
  /** Sends a test email from the installation to the caller, to check that sending works. */
  'POST /projects/:project/test-email': { response: ItemResponse<{ to: string; test_inbox: boolean }> };
  'GET /projects/:project/audit': { query: AuditQuery & PageQuery; response: ListResponse<AuditListed> };
  'GET /projects/:project/audit.csv': { query: AuditQuery; response: Raw };
};
