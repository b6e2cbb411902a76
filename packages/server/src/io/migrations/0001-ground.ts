import { type Kysely, sql } from 'kysely';

/**
 * The ground: projects, keys, and everything that one accepted request leaves behind.
 * Every tenant table begins with project_id; `api_key` is found before its project is known and begins with last4;
 * `installation` is local to the database.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(GROUND).execute(db);
}

const GROUND = `
CREATE SEQUENCE beckon.project_id_seq AS bigint;

CREATE TABLE beckon.installation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  secret_check bytea NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE beckon.project (
  project_id bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  livemode boolean NOT NULL,
  suspended_at timestamptz,
  created_at timestamptz NOT NULL
);

CREATE TABLE beckon.project_settings (
  project_id bigint PRIMARY KEY REFERENCES beckon.project (project_id),
  settings jsonb NOT NULL
);

CREATE TABLE beckon.lane (
  project_id bigint PRIMARY KEY REFERENCES beckon.project (project_id),
  next_seq bigint NOT NULL,
  waiting bigint NOT NULL CHECK (waiting >= 0)
) WITH (fillfactor = 50);

CREATE TABLE beckon.inbox (
  project_id bigint NOT NULL,
  seq bigint NOT NULL,
  lane text COLLATE "C" NOT NULL CHECK (lane IN ('live', 'bulk')),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('users', 'events')),
  records integer NOT NULL CHECK (records > 0),
  body bytea NOT NULL,
  accepted_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, seq)
);
ALTER TABLE beckon.inbox ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE beckon.dead_letter (
  project_id bigint NOT NULL,
  seq bigint NOT NULL,
  lane text COLLATE "C" NOT NULL CHECK (lane IN ('live', 'bulk')),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('users', 'events')),
  record jsonb NOT NULL,
  reason text COLLATE "C" NOT NULL,
  accepted_at timestamptz NOT NULL,
  died_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, seq)
);

CREATE TABLE beckon.idempotency (
  project_id bigint NOT NULL,
  key bytea NOT NULL CHECK (octet_length(key) = 16),
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  status smallint NOT NULL,
  body bytea,
  accepted_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, key)
);
ALTER TABLE beckon.idempotency ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX idempotency_accepted_at ON beckon.idempotency USING brin (accepted_at) WITH (autosummarize = on);

CREATE TABLE beckon.api_key (
  last4 text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  env text COLLATE "C" NOT NULL CHECK (env IN ('live', 'test')),
  project_id bigint NOT NULL,
  label text COLLATE "C" NOT NULL,
  salt bytea NOT NULL,
  hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  PRIMARY KEY (last4, id)
);
CREATE INDEX api_key_project ON beckon.api_key (project_id);

CREATE TABLE beckon.api_key_use (
  project_id bigint NOT NULL,
  key_id uuid NOT NULL,
  last_used_at timestamptz NOT NULL,
  client_name text COLLATE "C",
  client_version text COLLATE "C",
  PRIMARY KEY (project_id, key_id)
);

CREATE TABLE beckon.rate_limit (
  project_id bigint NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  rate double precision NOT NULL CHECK (rate > 0),
  burst double precision NOT NULL CHECK (burst >= 1),
  tokens double precision NOT NULL,
  refilled_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, endpoint)
) WITH (fillfactor = 50);

CREATE TABLE beckon.ingest_warning (
  project_id bigint NOT NULL,
  code text COLLATE "C" NOT NULL,
  day date NOT NULL,
  count bigint NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, code, day)
);
`;
