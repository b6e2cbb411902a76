import { type Kysely, sql } from 'kysely';

/**
 * Those who sign in. People belong to organisations and not to a project, so none of these tables has one. The tables of
 * the sign-in itself are written by better-auth, whose columns these are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [SIGN_IN, FACTORS, ORGANISATIONS, LINKS]) await sql.raw(part).execute(db);
}

const SIGN_IN = `
CREATE TABLE beckon.team_user (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL UNIQUE,
  email_verified boolean NOT NULL,
  image text COLLATE "C",
  two_factor_enabled boolean,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE TABLE beckon.team_session (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES beckon.team_user ON DELETE CASCADE,
  token text COLLATE "C" NOT NULL UNIQUE,
  ip_address text COLLATE "C",
  user_agent text COLLATE "C",
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX team_session_of_user ON beckon.team_session (user_id);
CREATE TABLE beckon.team_account (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES beckon.team_user ON DELETE CASCADE,
  account_id text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  access_token text COLLATE "C",
  refresh_token text COLLATE "C",
  id_token text COLLATE "C",
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text COLLATE "C",
  password text COLLATE "C",
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (user_id, provider_id)
);
CREATE TABLE beckon.team_verification (
  id text COLLATE "C" PRIMARY KEY,
  identifier text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX team_verification_by_identifier ON beckon.team_verification (identifier);
`;

const FACTORS = `
CREATE TABLE beckon.team_two_factor (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL UNIQUE REFERENCES beckon.team_user ON DELETE CASCADE,
  secret text COLLATE "C" NOT NULL,
  backup_codes text COLLATE "C" NOT NULL,
  verified boolean,
  failed_verification_count integer,
  locked_until timestamptz
);
CREATE TABLE beckon.team_passkey (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES beckon.team_user ON DELETE CASCADE,
  name text COLLATE "C",
  credential_id text COLLATE "C" NOT NULL UNIQUE,
  public_key text COLLATE "C" NOT NULL,
  counter bigint NOT NULL,
  device_type text COLLATE "C" NOT NULL,
  backed_up boolean NOT NULL,
  transports text COLLATE "C",
  aaguid text COLLATE "C",
  created_at timestamptz
);
CREATE INDEX team_passkey_of_user ON beckon.team_passkey (user_id);
`;

/** `wants_digest` null: as the role has it, which is yes for whoever may do something about a draft. */
const ORGANISATIONS = `
CREATE TABLE beckon.team_organisation (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  requires_two_factor boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL
);
CREATE TABLE beckon.team_member (
  organisation_id text COLLATE "C" NOT NULL REFERENCES beckon.team_organisation ON DELETE CASCADE,
  user_id text COLLATE "C" NOT NULL REFERENCES beckon.team_user ON DELETE CASCADE,
  role text COLLATE "C" NOT NULL CHECK (role IN ('viewer', 'reviewer', 'editor', 'admin', 'owner')),
  wants_digest boolean,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organisation_id, user_id)
);
CREATE INDEX team_member_of_user ON beckon.team_member (user_id);
CREATE INDEX project_of_organisation ON beckon.project (organisation_id);
`;

/** Of a link only its hash is kept. `team_attempt` counts those who try to come in, by address and by account, in windows. */
const LINKS = `
CREATE TABLE beckon.team_link (
  token_hash text COLLATE "C" PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('setup', 'invite', 'reset')),
  email text COLLATE "C",
  organisation_id text COLLATE "C" REFERENCES beckon.team_organisation ON DELETE CASCADE,
  role text COLLATE "C",
  clears_two_factor boolean NOT NULL DEFAULT false,
  made_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX team_link_of_organisation ON beckon.team_link (organisation_id);
CREATE TABLE beckon.team_attempt (
  key text COLLATE "C" PRIMARY KEY,
  count integer NOT NULL,
  window_ends_at timestamptz NOT NULL
);
CREATE INDEX team_attempt_ended ON beckon.team_attempt (window_ends_at);
`;
