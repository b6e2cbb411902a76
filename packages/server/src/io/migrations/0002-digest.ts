import { type Kysely, sql } from 'kysely';

/**
 * What accepted records become: people, events, audiences, and the stream of what happened. Events are partitioned by
 * the month in which they were digested; their partitions are made ahead of time by `features/events`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(INBOX).execute(db);
  await sql.raw(PEOPLE).execute(db);
  await sql.raw(EVENTS).execute(db);
  await sql.raw(AUDIENCES).execute(db);
  await sql.raw(STREAM).execute(db);
  await sql.raw(INSTANT).execute(db);
}

/** Each lane is read by itself, so the lane stands in front of the sequence; a chunk may be digested in parts. */
const INBOX = `
ALTER TABLE beckon.inbox DROP CONSTRAINT inbox_pkey;
ALTER TABLE beckon.inbox ADD PRIMARY KEY (project_id, lane, seq);
ALTER TABLE beckon.inbox ADD COLUMN applied integer NOT NULL DEFAULT 0;
ALTER TABLE beckon.inbox ADD CHECK (applied >= 0 AND applied < records);
ALTER TABLE beckon.inbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE beckon.digest_turn (
  project_id bigint PRIMARY KEY REFERENCES beckon.project (project_id),
  model bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO beckon.digest_turn (project_id, model) SELECT project_id, 0 FROM beckon.project;

CREATE TABLE beckon.tenant_due (
  project_id bigint PRIMARY KEY REFERENCES beckon.project (project_id),
  next_at timestamptz
) WITH (fillfactor = 50);
CREATE INDEX tenant_due_next_at ON beckon.tenant_due (next_at);
INSERT INTO beckon.tenant_due (project_id) SELECT project_id FROM beckon.project;
`;

const PEOPLE = `
CREATE TABLE beckon.person (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  plan text COLLATE "C",
  signup_date text COLLATE "C",
  company text COLLATE "C",
  role text COLLATE "C",
  traits jsonb NOT NULL,
  first_seen_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  suppressed_seq bigint,
  normal_seq bigint,
  live_seq bigint,
  triggers_live_since timestamptz,
  written_seq jsonb,
  PRIMARY KEY (project_id, external_user_id)
) WITH (fillfactor = 85);
CREATE INDEX person_written_seq ON beckon.person (project_id) WHERE written_seq IS NOT NULL;

CREATE TABLE beckon.person_email (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  email_lower text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, external_user_id)
);
CREATE INDEX person_email_lower ON beckon.person_email (project_id, email_lower);

CREATE INDEX dead_letter_person ON beckon.dead_letter (project_id, (record ->> 'external_user_id'));

CREATE TABLE beckon.erasure (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  erased_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, external_user_id)
);
`;

const EVENTS = `
CREATE TABLE beckon.event (
  project_id bigint NOT NULL,
  received_at timestamptz NOT NULL,
  id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  properties jsonb NOT NULL,
  occurred_at timestamptz NOT NULL,
  accepted_at timestamptz NOT NULL,
  seq bigint NOT NULL,
  suppressed boolean NOT NULL,
  PRIMARY KEY (project_id, received_at, id)
) PARTITION BY RANGE (received_at);
CREATE INDEX event_person ON beckon.event (project_id, external_user_id, name, occurred_at);

CREATE TABLE beckon.event_dedupe (
  project_id bigint NOT NULL,
  dedupe_key bytea NOT NULL,
  PRIMARY KEY (project_id, dedupe_key)
);

CREATE TABLE beckon.counted_event (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  counted_to text COLLATE "C",
  is_whole boolean NOT NULL,
  PRIMARY KEY (project_id, name)
);

CREATE TABLE beckon.person_event (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  count bigint NOT NULL CHECK (count > 0),
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, external_user_id, name)
) WITH (fillfactor = 80);

CREATE TABLE beckon.event_volume (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  day date NOT NULL,
  count bigint NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, name, day)
) WITH (fillfactor = 50);

CREATE TABLE beckon.event_property (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  property text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL CHECK (type IN ('string', 'number', 'boolean', 'null', 'array', 'object')),
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, name, property, type)
);
`;

/**
 * The digest asks about a few editions of one person, which the primary keys answer by one descent. `edition + 0` keeps the
 * planner from the indexes that list an edition's people: it thinks them as good, and they take a descent for each edition.
 */
const AUDIENCES = `
CREATE TABLE beckon.audience (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, id),
  UNIQUE (project_id, name)
);

CREATE TABLE beckon.audience_edition (
  project_id bigint NOT NULL,
  edition bigint NOT NULL,
  audience_id uuid NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('building', 'served', 'retired')),
  definition jsonb NOT NULL,
  members bigint NOT NULL CHECK (members >= 0),
  people bigint NOT NULL,
  built bigint NOT NULL,
  built_to text COLLATE "C",
  created_at timestamptz NOT NULL,
  served_at timestamptz,
  PRIMARY KEY (project_id, edition),
  CHECK (state <> 'served' OR served_at IS NOT NULL)
);
CREATE UNIQUE INDEX audience_edition_current ON beckon.audience_edition (project_id, audience_id, state) WHERE state <> 'retired';
CREATE INDEX audience_edition_unfinished ON beckon.audience_edition (state) WHERE state <> 'served';

CREATE TABLE beckon.audience_member (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  edition bigint NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (project_id, external_user_id, edition)
);
CREATE INDEX audience_member_edition ON beckon.audience_member (project_id, (edition + 0), external_user_id);

CREATE TABLE beckon.audience_due (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  edition bigint NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project_id, external_user_id, edition) INCLUDE (at)
);
CREATE INDEX audience_due_at ON beckon.audience_due (project_id, at);
CREATE INDEX audience_due_edition ON beckon.audience_due (project_id, (edition + 0));

CREATE TABLE beckon.audience_day (
  project_id bigint NOT NULL,
  audience_id uuid NOT NULL,
  day date NOT NULL,
  joined bigint NOT NULL,
  departed bigint NOT NULL,
  members bigint NOT NULL,
  PRIMARY KEY (project_id, audience_id, day)
) WITH (fillfactor = 50);
`;

const STREAM = `
CREATE TABLE beckon.change (
  project_id bigint NOT NULL,
  at timestamptz NOT NULL,
  id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL
    CHECK (kind IN ('person_created', 'person_changed', 'person_erased', 'audience_joined', 'audience_left', 'audience_built', 'bulk')),
  external_user_id text COLLATE "C",
  audience_id uuid,
  detail jsonb NOT NULL,
  PRIMARY KEY (project_id, at, id)
);
CREATE INDEX change_person ON beckon.change (project_id, external_user_id, at) WHERE external_user_id IS NOT NULL;

CREATE TABLE beckon.ingest_log (
  project_id bigint NOT NULL,
  at timestamptz NOT NULL,
  id uuid NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  code text COLLATE "C",
  requests integer NOT NULL CHECK (requests > 0),
  accepted integer NOT NULL,
  rejected integer NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, at, id)
);
`;

/**
 * A text as a moment, or null where it is none; the same texts as \`base/instant.ts\` takes, and the same moments. It never
 * fails, because what it reads was written by strangers.
 */
const INSTANT = `
CREATE FUNCTION beckon.instant(text) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  p text[] := regexp_match($1, '^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt]([0-9]{2}):([0-9]{2}):([0-5][0-9])(?:\\.([0-9]{1,9}))?([Zz]|[+-][0-9]{2}:[0-9]{2}))?$');
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
$$;
`;
