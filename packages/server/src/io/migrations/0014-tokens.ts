import { type Kysely, sql } from 'kysely';

/** Programs of people: their tokens, how they get one, and what they listen to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [TOKENS, DEVICES, LISTENERS, AUDIT]) await sql.raw(part).execute(db);
}

/** Like an API key it is found by its last four characters, and of what it is only a salted hash is kept. */
const TOKENS = `
CREATE TABLE beckon.team_token (
  id uuid PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES beckon.team_user ON DELETE CASCADE,
  label text COLLATE "C" NOT NULL,
  scopes text[] COLLATE "C" NOT NULL,
  last4 text COLLATE "C" NOT NULL,
  salt bytea NOT NULL,
  hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  last_used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX team_token_live ON beckon.team_token (last4) WHERE revoked_at IS NULL;
CREATE INDEX team_token_of_user ON beckon.team_token (user_id, created_at);
`;

/** A program that asks to be let in, for ten minutes. Of both of its codes hashes are kept; the token is made when it is fetched. */
const DEVICES = `
CREATE TABLE beckon.team_device (
  device_hash bytea PRIMARY KEY,
  code_hash bytea NOT NULL UNIQUE,
  label text COLLATE "C" NOT NULL,
  scopes text[] COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  asked_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'approved', 'denied', 'used')),
  decided_by text COLLATE "C" REFERENCES beckon.team_user ON DELETE CASCADE,
  CHECK ((state = 'waiting') = (decided_by IS NULL))
);
CREATE INDEX team_device_expired ON beckon.team_device (expires_at);
`;

const LISTENERS = `
CREATE TABLE beckon.webhook_listener (
  project_id bigint NOT NULL,
  person_id text COLLATE "C" NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, person_id)
);
`;

/** By which of their tokens somebody did it; null: at the dashboard itself, or by a command. */
const AUDIT = `ALTER TABLE beckon.audit ADD COLUMN token text COLLATE "C"`;
