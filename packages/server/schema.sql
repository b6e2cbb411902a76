-- Made from the migrations by "npm run schema"; read it, do not edit it.

CREATE SEQUENCE beckon.project_id_seq;

CREATE TABLE beckon.api_key (
  last4 text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  env text COLLATE "C" NOT NULL,
  project_id bigint NOT NULL,
  label text COLLATE "C" NOT NULL,
  salt bytea NOT NULL,
  hash bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  revoked_at timestamp with time zone
);

CREATE TABLE beckon.api_key_use (
  project_id bigint NOT NULL,
  key_id uuid NOT NULL,
  last_used_at timestamp with time zone NOT NULL,
  client_name text COLLATE "C",
  client_version text COLLATE "C"
);

CREATE TABLE beckon.dead_letter (
  project_id bigint NOT NULL,
  seq bigint NOT NULL,
  lane text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  record jsonb NOT NULL,
  reason text COLLATE "C" NOT NULL,
  accepted_at timestamp with time zone NOT NULL,
  died_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.idempotency (
  project_id bigint NOT NULL,
  key bytea NOT NULL,
  fingerprint bytea NOT NULL,
  status smallint NOT NULL,
  body bytea STORAGE EXTERNAL,
  accepted_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.inbox (
  project_id bigint NOT NULL,
  seq bigint NOT NULL,
  lane text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  records integer NOT NULL,
  body bytea NOT NULL STORAGE EXTERNAL,
  accepted_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.ingest_warning (
  project_id bigint NOT NULL,
  code text COLLATE "C" NOT NULL,
  day date NOT NULL,
  count bigint NOT NULL,
  last_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.installation (
  only_row boolean NOT NULL DEFAULT true,
  secret_check bytea NOT NULL,
  created_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.lane (
  project_id bigint NOT NULL,
  next_seq bigint NOT NULL,
  waiting bigint NOT NULL
) WITH (fillfactor=50);

CREATE TABLE beckon.project (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  livemode boolean NOT NULL,
  suspended_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.project_settings (
  project_id bigint NOT NULL,
  settings jsonb NOT NULL
);

CREATE TABLE beckon.rate_limit (
  project_id bigint NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  rate double precision NOT NULL,
  burst double precision NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamp with time zone NOT NULL
) WITH (fillfactor=50);


ALTER TABLE beckon.api_key ADD CONSTRAINT api_key_env_check CHECK ((env = ANY (ARRAY['live'::text, 'test'::text])));
ALTER TABLE beckon.api_key ADD CONSTRAINT api_key_pkey PRIMARY KEY (last4, id);
ALTER TABLE beckon.api_key_use ADD CONSTRAINT api_key_use_pkey PRIMARY KEY (project_id, key_id);
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_kind_check CHECK ((kind = ANY (ARRAY['users'::text, 'events'::text])));
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_lane_check CHECK ((lane = ANY (ARRAY['live'::text, 'bulk'::text])));
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (project_id, seq);
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_fingerprint_check CHECK ((octet_length(fingerprint) = 32));
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_key_check CHECK ((octet_length(key) = 16));
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_pkey PRIMARY KEY (project_id, key);
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_kind_check CHECK ((kind = ANY (ARRAY['users'::text, 'events'::text])));
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_lane_check CHECK ((lane = ANY (ARRAY['live'::text, 'bulk'::text])));
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_pkey PRIMARY KEY (project_id, seq);
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_records_check CHECK ((records > 0));
ALTER TABLE beckon.ingest_warning ADD CONSTRAINT ingest_warning_pkey PRIMARY KEY (project_id, code, day);
ALTER TABLE beckon.installation ADD CONSTRAINT installation_only_row_check CHECK (only_row);
ALTER TABLE beckon.installation ADD CONSTRAINT installation_pkey PRIMARY KEY (only_row);
ALTER TABLE beckon.lane ADD CONSTRAINT lane_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.lane ADD CONSTRAINT lane_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.lane ADD CONSTRAINT lane_waiting_check CHECK ((waiting >= 0));
ALTER TABLE beckon.project ADD CONSTRAINT project_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.project_settings ADD CONSTRAINT project_settings_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.project_settings ADD CONSTRAINT project_settings_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_burst_check CHECK ((burst >= (1)::double precision));
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (project_id, endpoint);
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_rate_check CHECK ((rate > (0)::double precision));

CREATE INDEX api_key_project ON beckon.api_key USING btree (project_id);
CREATE INDEX idempotency_accepted_at ON beckon.idempotency USING brin (accepted_at) WITH (autosummarize='on');
