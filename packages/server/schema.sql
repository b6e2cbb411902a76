-- Made from the migrations by "npm run schema"; read it, do not edit it.

CREATE OR REPLACE FUNCTION beckon.instant(text)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
  p text[] := regexp_match($1, '^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt]([0-9]{2}):([0-9]{2}):([0-5][0-9])(?:\.([0-9]{1,9}))?([Zz]|[+-][0-9]{2}:[0-9]{2}))?$');
  y int; m int; d int;
BEGIN
  IF p IS NULL THEN RETURN NULL; END IF;
  y := p[1]; m := p[2]; d := p[3];
  IF y < 1 OR m < 1 OR m > 12 OR d < 1 OR d > (CASE
      WHEN m = 2 AND ((y % 4 = 0 AND y % 100 <> 0) OR y % 400 = 0) THEN 29
      WHEN m = 2 THEN 28
      WHEN m IN (4, 6, 9, 11) THEN 30
      ELSE 31 END) THEN
    RETURN NULL;
  END IF;
  IF p[4] IS NULL THEN RETURN make_timestamptz(y, m, d, 0, 0, 0, 'UTC'); END IF;
  IF p[4]::int > 23 OR p[5]::int > 59 OR (p[8] NOT IN ('Z', 'z') AND (substr(p[8], 2, 2)::int > 14 OR substr(p[8], 5, 2)::int > 59)) THEN
    RETURN NULL;
  END IF;
  RETURN make_timestamptz(y, m, d, p[4]::int, p[5]::int, 0, 'UTC')
    + p[6]::int * interval '1 second'
    + substr(rpad(coalesce(p[7], ''), 3, '0'), 1, 3)::int * interval '1 millisecond'
    - CASE WHEN p[8] IN ('Z', 'z') THEN interval '0'
           ELSE (substr(p[8], 1, 1) || '1')::int * (substr(p[8], 2, 2)::int * 60 + substr(p[8], 5, 2)::int) * interval '1 minute' END;
END
$function$
;

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

CREATE TABLE beckon.audience (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.audience_day (
  project_id bigint NOT NULL,
  audience_id uuid NOT NULL,
  day date NOT NULL,
  joined bigint NOT NULL,
  departed bigint NOT NULL,
  members bigint NOT NULL
) WITH (fillfactor=50);

CREATE TABLE beckon.audience_due (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  edition bigint NOT NULL,
  at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.audience_edition (
  project_id bigint NOT NULL,
  edition bigint NOT NULL,
  audience_id uuid NOT NULL,
  state text COLLATE "C" NOT NULL,
  definition jsonb NOT NULL,
  members bigint NOT NULL,
  people bigint NOT NULL,
  built bigint NOT NULL,
  built_to text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  served_at timestamp with time zone
);

CREATE TABLE beckon.audience_member (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  edition bigint NOT NULL,
  since timestamp with time zone NOT NULL
);

CREATE TABLE beckon.change (
  project_id bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  external_user_id text COLLATE "C",
  audience_id uuid,
  detail jsonb NOT NULL
);

CREATE TABLE beckon.counted_event (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  counted_to text COLLATE "C",
  is_whole boolean NOT NULL
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

CREATE TABLE beckon.digest_turn (
  project_id bigint NOT NULL,
  model bigint NOT NULL
) WITH (fillfactor=50);

CREATE TABLE beckon.erasure (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  erased_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.event (
  project_id bigint NOT NULL,
  received_at timestamp with time zone NOT NULL,
  id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  properties jsonb NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  accepted_at timestamp with time zone NOT NULL,
  seq bigint NOT NULL,
  suppressed boolean NOT NULL
) PARTITION BY RANGE (received_at);

CREATE TABLE beckon.event_dedupe (
  project_id bigint NOT NULL,
  dedupe_key bytea NOT NULL
);

CREATE TABLE beckon.event_property (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  property text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  first_at timestamp with time zone NOT NULL,
  last_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.event_volume (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  day date NOT NULL,
  count bigint NOT NULL,
  first_at timestamp with time zone NOT NULL,
  last_at timestamp with time zone NOT NULL
) WITH (fillfactor=50);

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
  accepted_at timestamp with time zone NOT NULL,
  applied integer NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

CREATE TABLE beckon.ingest_log (
  project_id bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  id uuid NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  code text COLLATE "C",
  requests integer NOT NULL,
  accepted integer NOT NULL,
  rejected integer NOT NULL,
  request_id text COLLATE "C" NOT NULL
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

CREATE TABLE beckon.person (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  plan text COLLATE "C",
  signup_date text COLLATE "C",
  company text COLLATE "C",
  role text COLLATE "C",
  traits jsonb NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  suppressed_seq bigint,
  normal_seq bigint,
  live_seq bigint,
  triggers_live_since timestamp with time zone,
  written_seq jsonb
) WITH (fillfactor=85);

CREATE TABLE beckon.person_email (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  email_lower text COLLATE "C" NOT NULL
);

CREATE TABLE beckon.person_event (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  first_at timestamp with time zone NOT NULL,
  last_at timestamp with time zone NOT NULL
) WITH (fillfactor=80);

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

CREATE TABLE beckon.tenant_due (
  project_id bigint NOT NULL,
  next_at timestamp with time zone
) WITH (fillfactor=50);


ALTER TABLE beckon.api_key ADD CONSTRAINT api_key_env_check CHECK ((env = ANY (ARRAY['live'::text, 'test'::text])));
ALTER TABLE beckon.api_key ADD CONSTRAINT api_key_pkey PRIMARY KEY (last4, id);
ALTER TABLE beckon.api_key_use ADD CONSTRAINT api_key_use_pkey PRIMARY KEY (project_id, key_id);
ALTER TABLE beckon.audience ADD CONSTRAINT audience_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.audience ADD CONSTRAINT audience_project_id_name_key UNIQUE (project_id, name);
ALTER TABLE beckon.audience_day ADD CONSTRAINT audience_day_pkey PRIMARY KEY (project_id, audience_id, day);
ALTER TABLE beckon.audience_due ADD CONSTRAINT audience_due_pkey PRIMARY KEY (project_id, external_user_id, edition) INCLUDE (at);
ALTER TABLE beckon.audience_edition ADD CONSTRAINT audience_edition_check CHECK (((state <> 'served'::text) OR (served_at IS NOT NULL)));
ALTER TABLE beckon.audience_edition ADD CONSTRAINT audience_edition_members_check CHECK ((members >= 0));
ALTER TABLE beckon.audience_edition ADD CONSTRAINT audience_edition_pkey PRIMARY KEY (project_id, edition);
ALTER TABLE beckon.audience_edition ADD CONSTRAINT audience_edition_state_check CHECK ((state = ANY (ARRAY['building'::text, 'served'::text, 'retired'::text])));
ALTER TABLE beckon.audience_member ADD CONSTRAINT audience_member_pkey PRIMARY KEY (project_id, external_user_id, edition);
ALTER TABLE beckon.change ADD CONSTRAINT change_kind_check CHECK ((kind = ANY (ARRAY['person_created'::text, 'person_changed'::text, 'person_erased'::text, 'audience_joined'::text, 'audience_left'::text, 'audience_built'::text, 'bulk'::text])));
ALTER TABLE beckon.change ADD CONSTRAINT change_pkey PRIMARY KEY (project_id, at, id);
ALTER TABLE beckon.counted_event ADD CONSTRAINT counted_event_pkey PRIMARY KEY (project_id, name);
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_kind_check CHECK ((kind = ANY (ARRAY['users'::text, 'events'::text])));
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_lane_check CHECK ((lane = ANY (ARRAY['live'::text, 'bulk'::text])));
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (project_id, seq);
ALTER TABLE beckon.digest_turn ADD CONSTRAINT digest_turn_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.digest_turn ADD CONSTRAINT digest_turn_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.erasure ADD CONSTRAINT erasure_pkey PRIMARY KEY (project_id, external_user_id);
ALTER TABLE beckon.event ADD CONSTRAINT event_pkey PRIMARY KEY (project_id, received_at, id);
ALTER TABLE beckon.event_dedupe ADD CONSTRAINT event_dedupe_pkey PRIMARY KEY (project_id, dedupe_key);
ALTER TABLE beckon.event_property ADD CONSTRAINT event_property_pkey PRIMARY KEY (project_id, name, property, type);
ALTER TABLE beckon.event_property ADD CONSTRAINT event_property_type_check CHECK ((type = ANY (ARRAY['string'::text, 'number'::text, 'boolean'::text, 'null'::text, 'array'::text, 'object'::text])));
ALTER TABLE beckon.event_volume ADD CONSTRAINT event_volume_pkey PRIMARY KEY (project_id, name, day);
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_fingerprint_check CHECK ((octet_length(fingerprint) = 32));
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_key_check CHECK ((octet_length(key) = 16));
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_pkey PRIMARY KEY (project_id, key);
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_check CHECK (((applied >= 0) AND (applied < records)));
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_kind_check CHECK ((kind = ANY (ARRAY['users'::text, 'events'::text])));
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_lane_check CHECK ((lane = ANY (ARRAY['live'::text, 'bulk'::text])));
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_pkey PRIMARY KEY (project_id, lane, seq);
ALTER TABLE beckon.inbox ADD CONSTRAINT inbox_records_check CHECK ((records > 0));
ALTER TABLE beckon.ingest_log ADD CONSTRAINT ingest_log_pkey PRIMARY KEY (project_id, at, id);
ALTER TABLE beckon.ingest_log ADD CONSTRAINT ingest_log_requests_check CHECK ((requests > 0));
ALTER TABLE beckon.ingest_warning ADD CONSTRAINT ingest_warning_pkey PRIMARY KEY (project_id, code, day);
ALTER TABLE beckon.installation ADD CONSTRAINT installation_only_row_check CHECK (only_row);
ALTER TABLE beckon.installation ADD CONSTRAINT installation_pkey PRIMARY KEY (only_row);
ALTER TABLE beckon.lane ADD CONSTRAINT lane_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.lane ADD CONSTRAINT lane_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.lane ADD CONSTRAINT lane_waiting_check CHECK ((waiting >= 0));
ALTER TABLE beckon.person ADD CONSTRAINT person_pkey PRIMARY KEY (project_id, external_user_id);
ALTER TABLE beckon.person_email ADD CONSTRAINT person_email_pkey PRIMARY KEY (project_id, external_user_id);
ALTER TABLE beckon.person_event ADD CONSTRAINT person_event_count_check CHECK ((count > 0));
ALTER TABLE beckon.person_event ADD CONSTRAINT person_event_pkey PRIMARY KEY (project_id, external_user_id, name);
ALTER TABLE beckon.project ADD CONSTRAINT project_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.project_settings ADD CONSTRAINT project_settings_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.project_settings ADD CONSTRAINT project_settings_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_burst_check CHECK ((burst >= (1)::double precision));
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (project_id, endpoint);
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_rate_check CHECK ((rate > (0)::double precision));
ALTER TABLE beckon.tenant_due ADD CONSTRAINT tenant_due_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.tenant_due ADD CONSTRAINT tenant_due_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);

CREATE INDEX api_key_project ON beckon.api_key USING btree (project_id);
CREATE INDEX audience_due_at ON beckon.audience_due USING btree (project_id, at);
CREATE INDEX audience_due_edition ON beckon.audience_due USING btree (project_id, ((edition + 0)));
CREATE UNIQUE INDEX audience_edition_current ON beckon.audience_edition USING btree (project_id, audience_id, state) WHERE (state <> 'retired'::text);
CREATE INDEX audience_edition_unfinished ON beckon.audience_edition USING btree (state) WHERE (state <> 'served'::text);
CREATE INDEX audience_member_edition ON beckon.audience_member USING btree (project_id, ((edition + 0)), external_user_id);
CREATE INDEX change_person ON beckon.change USING btree (project_id, external_user_id, at) WHERE (external_user_id IS NOT NULL);
CREATE INDEX dead_letter_person ON beckon.dead_letter USING btree (project_id, ((record ->> 'external_user_id'::text)));
CREATE INDEX event_person ON ONLY beckon.event USING btree (project_id, external_user_id, name, occurred_at);
CREATE INDEX idempotency_accepted_at ON beckon.idempotency USING brin (accepted_at) WITH (autosummarize='on');
CREATE INDEX person_email_lower ON beckon.person_email USING btree (project_id, email_lower);
CREATE INDEX person_written_seq ON beckon.person USING btree (project_id) WHERE (written_seq IS NOT NULL);
CREATE INDEX tenant_due_next_at ON beckon.tenant_due USING btree (next_at);
