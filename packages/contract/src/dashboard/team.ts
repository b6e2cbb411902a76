import type { Role } from './access.ts';
import type { Many, One, PageQuery, Raw } from './envelope.ts';

/** Who is at the keyboard, and what this installation is: asked first by every page, signed in or not. */
export type SessionState = {
  /** False: nobody has an account yet, and a set-up link is waiting where the server was started. */
  set_up: boolean;
  /** Null: nobody is signed in. */
  member: SignedIn | null;
  organizations: OrganizationOfMine[];
  /** How many projects they may open. */
  projects: number;
  installation: InstallationState;
};

export type SignedIn = {
  id: string;
  name: string;
  email: string;
  /** An authenticator app is asked for after the password. */
  two_factor: boolean;
  /** Of this session. */
  session_id: string;
};

export type OrganizationOfMine = {
  id: string;
  name: string;
  role: Role;
  requires_two_factor: boolean;
  /** It asks for an authenticator app that they do not have yet: until they do, its projects stay closed. */
  must_set_up_two_factor: boolean;
  /** Whether digests of what waits are mailed to them. */
  wants_digest: boolean;
};

export type InstallationState = {
  public_url: string;
  /** Letters go nowhere but into the outbox of this machine. */
  test_inbox: boolean;
  /** Host and port; null where letters go into the outbox. */
  relay: string | null;
  mail_from: string | null;
  has_model: boolean;
  version: string;
};

/** What a link is for, told to who holds it. */
export type LinkState = {
  kind: 'setup' | 'invite' | 'reset';
  /** Whom it is for; null: whoever sets up. */
  email: string | null;
  organization: string | null;
  role: Role | null;
  /** There is an account with this address already: joining needs its sign-in, and no new password. */
  has_account: boolean;
  expires_at: string;
};

export type SignInAnswer = {
  signed_in: boolean;
  /** The password was right; a code is asked for now. */ two_factor: boolean;
};

export type SessionListed = {
  id: string;
  /** As the browser called itself. */
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
  /** Who invites; null: a command did. */
  by: string | null;
};

/** `link` is shown this once; `mailed`: it left by mail too. */
export type InviteMade = InviteListed & { link: string; emailed: boolean };

export type OrganizationShown = { id: string; name: string; requires_two_factor: boolean };

export type AuditListed = {
  id: string;
  at: string;
  /** Null: it concerns the team, and no project. */
  project: { id: number; name: string } | null;
  actor: string;
  actor_name: string;
  /** The label of the personal token by which they did it; null: at the dashboard, or by a command. */
  token: string | null;
  action: string;
  subject: string | null;
  before: unknown;
  after: unknown;
  /** False: the change was started, and its outcome is unknown. */
  completed: boolean;
};

type AuditAsked = {
  /** `team:<id>`, `local-shell`, or `operator` for a command of `beckon-server`. */
  actor?: string;
  /** What the action begins with, `draft.`. */
  action?: string;
  /** Changes in this project only, or in its whole organization (the default). */
  scope?: 'project' | 'organization';
};

export type TeamApi = {
  // Before signing in.
  'GET /session': { answer: One<SessionState> };
  'GET /links': { query: { token: string }; answer: One<LinkState> };
  'POST /setup': {
    body: {
      token: string;
      email: string;
      password: string;
      project: string;
      /** Left out: what stands before the @. */
      name?: string;
      /** Left out: the project's name. */
      organization?: string;
      time_zone?: string;
    };
    answer: One<{ project_id: number | null }>;
  };
  'POST /sign-in': { body: { email: string; password: string }; answer: One<SignInAnswer> };
  'POST /sign-in/totp': { body: { code: string }; answer: One<SignInAnswer> };
  'POST /sign-in/backup-code': { body: { code: string }; answer: One<SignInAnswer> };
  'POST /sign-in/passkey-options': { answer: One<Record<string, unknown>> };
  'POST /sign-in/passkey': { body: { response: Record<string, unknown> }; answer: One<SignInAnswer> };
  'POST /forgot': { body: { email: string }; answer: One<{ requested: boolean }> };
  'POST /reset': { body: { token: string; password: string }; answer: One<{ reset: boolean }> };
  /** With name and password: makes the account. Signed in as whom it is for: joins, and neither is given. */
  'POST /invites/accept': {
    body: { token: string; name?: string; password?: string };
    answer: One<{ organization: string; role: Role }>;
  };

  // Of whoever is signed in.
  'POST /sign-out': { answer: One<{ signed_out: boolean }> };
  'POST /profile': { body: { name: string }; answer: One<{ name: string }> };
  'POST /organizations/:organization/digest': {
    body: { enabled: boolean };
    answer: One<{ enabled: boolean }>;
  };
  /** `end_passkeys_and_tokens`: true unless given. All other sessions end in any case. */
  'POST /password': {
    body: { current: string; new: string; end_passkeys_and_tokens?: boolean };
    answer: One<{ changed: boolean }>;
  };
  /** Confirms for ten minutes that it is the member who asks. `code`: with an authenticator app, its code or a backup code. */
  'POST /confirm': { body: { password: string; code?: string }; answer: One<{ confirmed: boolean }> };
  'POST /confirm/passkey-options': { answer: One<Record<string, unknown>> };
  'POST /confirm/passkey': {
    body: { response: Record<string, unknown> };
    answer: One<{ confirmed: boolean }>;
  };
  'POST /two-factor/begin': {
    body: { password: string };
    answer: One<{ uri: string; backup_codes: string[] }>;
  };
  'POST /two-factor/confirm': { body: { code: string }; answer: One<{ two_factor: boolean }> };
  'POST /two-factor/end': { body: { password: string }; answer: One<{ two_factor: boolean }> };
  'POST /two-factor/backup-codes': { body: { password: string }; answer: One<{ backup_codes: string[] }> };
  'GET /passkeys': { answer: Many<PasskeyListed> };
  'POST /passkeys/options': { answer: One<Record<string, unknown>> };
  'POST /passkeys': { body: { response: Record<string, unknown>; name: string }; answer: One<PasskeyListed> };
  'POST /passkeys/:passkey/delete': { answer: One<{ deleted: boolean }> };
  'GET /sessions': { answer: Many<SessionListed> };
  'POST /sessions/:session/end': { answer: One<{ ended: number }> };
  'POST /sessions/end-others': { answer: One<{ ended: number }> };

  // Of the organization that a project belongs to.
  'GET /projects/:project/organization': { answer: One<OrganizationShown> };
  'POST /projects/:project/organization': {
    body: { name?: string; requires_two_factor?: boolean };
    answer: One<OrganizationShown>;
  };
  'GET /projects/:project/members': { answer: Many<MemberListed> };
  /** `:member`: the id or the email address of a member. */
  'POST /projects/:project/members/:member/role': { body: { role: Role }; answer: One<MemberListed> };
  'POST /projects/:project/members/:member/remove': { answer: One<{ removed: boolean }> };
  'GET /projects/:project/invites': { answer: Many<InviteListed> };
  'POST /projects/:project/invites': { body: { email: string; role: Role }; answer: One<InviteMade> };
  /** `:invite`: the id of an invitation, or the email address that was invited. */
  'POST /projects/:project/invites/:invite/revoke': { answer: One<{ revoked: boolean }> };
  /** To whoever asks, from the installation itself: whether mail leaves at all. */
  'POST /projects/:project/test-email': { answer: One<{ to: string; test_inbox: boolean }> };
  'GET /projects/:project/audit': { query: AuditAsked & PageQuery; answer: Many<AuditListed> };
  'GET /projects/:project/audit.csv': { query: AuditAsked; answer: Raw };
};
