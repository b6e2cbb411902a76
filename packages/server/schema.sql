-- The database schema. The migration 0001-baseline runs this file on a new database.
-- After an edit, run "npm run schema": it writes the file back in the form and order of PostgreSQL's catalog.
-- "--" comments are lost by that; say what a table or column is for with COMMENT ON.

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
COMMENT ON FUNCTION beckon.instant(text) IS 'Parses a date or timestamp; NULL if the text is neither. Accepts the same texts as platform/time/instant.ts, with the same result. Never fails, because the texts come from customers.';

CREATE SEQUENCE beckon.project_id_seq;

CREATE TABLE beckon.activity (
  project_id bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  external_user_id text COLLATE "C",
  audience_id uuid,
  detail jsonb NOT NULL
);

CREATE TABLE beckon.ai_drafting (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  next_at timestamp with time zone,
  attempts integer NOT NULL,
  result text COLLATE "C",
  findings jsonb NOT NULL,
  model text COLLATE "C",
  prompt_hash text COLLATE "C"
);
COMMENT ON COLUMN beckon.ai_drafting.next_at IS 'When the model is asked or, for a claimed row, when its claim expires. NULL once there is a result.';
COMMENT ON COLUMN beckon.ai_drafting.attempts IS 'Raised by each claim. A result counts only if it names the attempt of its claim.';

CREATE TABLE beckon.api_key (
  last4 text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  env text COLLATE "C" NOT NULL,
  project_id bigint NOT NULL,
  label text COLLATE "C" NOT NULL,
  salt bytea NOT NULL,
  hash bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  revoked_at timestamp with time zone,
  created_by text COLLATE "C"
);
COMMENT ON TABLE beckon.api_key IS 'Read before the project is known, so its key begins with last4 and not with project_id.';
COMMENT ON COLUMN beckon.api_key.created_by IS 'NULL if the key was created on the command line.';

CREATE TABLE beckon.api_key_traffic (
  project_id bigint NOT NULL,
  key_id uuid NOT NULL,
  day date NOT NULL,
  requests bigint NOT NULL
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
  left_count bigint NOT NULL,
  members bigint NOT NULL
) WITH (fillfactor=50);

CREATE TABLE beckon.audience_member (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  version_id bigint NOT NULL,
  since timestamp with time zone NOT NULL
);

CREATE TABLE beckon.audience_timer (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  version_id bigint NOT NULL,
  at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.audience_version (
  project_id bigint NOT NULL,
  version_id bigint NOT NULL,
  audience_id uuid NOT NULL,
  state text COLLATE "C" NOT NULL,
  definition jsonb NOT NULL,
  members bigint NOT NULL,
  users bigint NOT NULL,
  built bigint NOT NULL,
  built_to text COLLATE "C",
  created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.audience_version IS 'A definition of an audience. An edited definition is built as a new version beside the served one.';

CREATE TABLE beckon.audit (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  at timestamp with time zone NOT NULL,
  actor text COLLATE "C" NOT NULL,
  actor_name text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C",
  before jsonb,
  after jsonb,
  completed boolean NOT NULL DEFAULT false,
  token text COLLATE "C",
  organizations text[] COLLATE "C"
);
COMMENT ON TABLE beckon.audit IS 'Written before a change and completed after it. project_id 0: the change concerns the team and not a project.';
COMMENT ON COLUMN beckon.audit.token IS 'The personal access token that was used. NULL: the dashboard or a command.';
COMMENT ON COLUMN beckon.audit.organizations IS 'Organizations whose members may read an entry of project_id 0. Fixed when the entry is written, so that later joins and departures change nothing.';

CREATE TABLE beckon.billing_customer (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  customer_id text COLLATE "C" NOT NULL,
  created bigint,
  address text COLLATE "C",
  named_user_id text COLLATE "C",
  facts json NOT NULL,
  matched_by text COLLATE "C",
  user_id text COLLATE "C",
  match_reason text COLLATE "C",
  is_known boolean NOT NULL,
  has_address boolean NOT NULL
);
COMMENT ON COLUMN beckon.billing_customer.address IS 'Normalized: two addresses of one mailbox are equal.';
COMMENT ON COLUMN beckon.billing_customer.matched_by IS 'NULL until it is decided which user the customer is.';

CREATE TABLE beckon.billing_object (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  customer_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  facts json NOT NULL
);

CREATE TABLE beckon.billing_snapshot (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  step text COLLATE "C" NOT NULL,
  after_id text COLLATE "C",
  after_created bigint,
  objects bigint NOT NULL
);
COMMENT ON TABLE beckon.billing_snapshot IS 'Stripe data of an import, kept until the import ends. It is read once, so that check and run see the same data and the Stripe key is not needed for both.';
COMMENT ON COLUMN beckon.billing_snapshot.step IS 'With after_id and after_created: how far the data has been read.';

CREATE TABLE beckon.counted_event (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  counted_to text COLLATE "C",
  is_whole boolean NOT NULL
);

CREATE TABLE beckon.database_timeline (
  system_id text COLLATE "C" NOT NULL,
  timeline integer NOT NULL,
  seen_at timestamp with time zone NOT NULL,
  accepted_at timestamp with time zone,
  accepted_as text COLLATE "C",
  restored_to timestamp with time zone,
  stopped_at timestamp with time zone,
  counts jsonb,
  is_closed boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE beckon.database_timeline IS 'The PostgreSQL clusters and timelines in which this database has run. Each restore to a point in time starts a new timeline. A place that is not accepted was restored, and it is not yet confirmed which emails may have been sent before.';
COMMENT ON COLUMN beckon.database_timeline.is_closed IS 'Set by "restore close": no email is sent, and no standby that takes over accepts this place by itself.';

CREATE TABLE beckon.dead_letter (
  project_id bigint NOT NULL,
  seq bigint NOT NULL,
  priority text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  record jsonb NOT NULL,
  reason text COLLATE "C" NOT NULL,
  accepted_at timestamp with time zone NOT NULL,
  dead_lettered_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.decision (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  rule_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  first_at timestamp with time zone NOT NULL,
  last_at timestamp with time zone NOT NULL,
  detail jsonb NOT NULL
) WITH (fillfactor=80);
COMMENT ON TABLE beckon.decision IS 'One row for each rule, user, enrollment key and reason: the rule fired, or the first check that refused.';

CREATE TABLE beckon.dkim_key (
  project_id bigint NOT NULL,
  domain_id uuid NOT NULL,
  slot text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  public_key text COLLATE "C" NOT NULL,
  private_key bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  changed_at timestamp with time zone NOT NULL
);
COMMENT ON COLUMN beckon.dkim_key.private_key IS 'Encrypted with the secret key.';

CREATE TABLE beckon.draft (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  rule_id uuid NOT NULL,
  version integer NOT NULL,
  run_id uuid,
  step integer NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  resume_state text COLLATE "C",
  reason text COLLATE "C",
  subject text COLLATE "C" NOT NULL,
  preheader text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  content_hash text COLLATE "C" NOT NULL,
  is_edited boolean NOT NULL,
  facts jsonb NOT NULL,
  priority integer NOT NULL,
  counts boolean NOT NULL,
  autopilot_ms bigint,
  deadline_at timestamp with time zone,
  not_before timestamp with time zone,
  due_at timestamp with time zone,
  expires_at timestamp with time zone,
  ends_at timestamp with time zone,
  lease_by text COLLATE "C",
  resend_of uuid,
  moves integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  format text COLLATE "C" NOT NULL
) WITH (fillfactor=80);
COMMENT ON COLUMN beckon.draft.due_at IS 'When the sender has to look at the draft next: the deadline of a scheduled draft, not_before of an approved one, the end of the hold of a held one. NULL: only a member or an event moves it.';

CREATE TABLE beckon.draft_content (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  content_hash text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  preheader text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.draft_content IS 'The text before and after each edit by a member. draft_move.content_hash says which text a move left.';

CREATE TABLE beckon.draft_move (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  number integer NOT NULL,
  at timestamp with time zone NOT NULL,
  action text COLLATE "C" NOT NULL,
  from_state text COLLATE "C",
  to_state text COLLATE "C" NOT NULL,
  actor text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  content_hash text COLLATE "C" NOT NULL,
  detail jsonb NOT NULL,
  id uuid NOT NULL GENERATED ALWAYS AS (((lpad(to_hex(number), 8, '0'::text) || substr(md5((draft_id)::text), 9)))::uuid) STORED
);
COMMENT ON COLUMN beckon.draft_move.id IS 'Orders the moves of one draft within one instant of the activity stream. The creation of a draft is in the stream as the draft itself.';

CREATE TABLE beckon.email (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  id uuid NOT NULL,
  rule_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  counts boolean NOT NULL,
  claimed_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  reason text COLLATE "C",
  epoch integer NOT NULL DEFAULT 1,
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamp with time zone,
  first_at timestamp with time zone,
  domain text COLLATE "C",
  provider text COLLATE "C",
  reply text COLLATE "C",
  relay_id text COLLATE "C",
  template text COLLATE "C",
  relay uuid,
  delivered_at timestamp with time zone,
  relay_generation integer,
  ask_until timestamp with time zone,
  ask_at timestamp with time zone,
  asks integer NOT NULL DEFAULT 0
);
COMMENT ON TABLE beckon.email IS 'At most one for each draft, kept forever. Frequency caps count them by address.';
COMMENT ON COLUMN beckon.email.epoch IS 'Raised by each claim. A result counts only if it names the epoch of its claim.';
COMMENT ON COLUMN beckon.email.next_at IS 'When a claim or a submission without an answer is given up.';
COMMENT ON COLUMN beckon.email.relay_id IS 'The id that the relay gave to the email when it accepted it.';
COMMENT ON COLUMN beckon.email.template IS 'The name of the template, by which outcomes are grouped.';
COMMENT ON COLUMN beckon.email.relay IS 'The relay of the last claim. Null: the relay of SMTP_URL, or the test inbox.';
COMMENT ON COLUMN beckon.email.delivered_at IS 'When its relay reported the delivery, if the result was not known yet.';
COMMENT ON COLUMN beckon.email.relay_generation IS 'The generation of the relay at the last claim.';
COMMENT ON COLUMN beckon.email.ask_until IS 'Until when its relay recognizes a repeated request, with a margin. Null: it documents no idempotency key.';
COMMENT ON COLUMN beckon.email.ask_at IS 'When the relay is next asked what became of the email. Set only while its delivery is unknown.';
COMMENT ON COLUMN beckon.email.asks IS 'How often the relay was asked.';

CREATE TABLE beckon.email_mime (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  mail_from text COLLATE "C" NOT NULL,
  rcpt_to text COLLATE "C" NOT NULL,
  mime bytea NOT NULL,
  frozen_at timestamp with time zone NOT NULL
);
COMMENT ON COLUMN beckon.email_mime.mime IS 'The raw email, fixed before its first attempt.';

CREATE TABLE beckon.enrollment_record (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  rule_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  enrolled_at timestamp with time zone NOT NULL,
  level smallint NOT NULL
);
COMMENT ON TABLE beckon.enrollment_record IS 'Keyed by rule and not by rule version.';

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
  suppressed boolean
) PARTITION BY RANGE (received_at);
COMMENT ON TABLE beckon.event IS 'Partitioned by the month of processing. modules/users/events creates the partitions ahead of time.';
COMMENT ON COLUMN beckon.event.suppressed IS 'NULL for outcomes of emails: they are neither suppressed nor normal events and do not move the watermark of the user.';

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

CREATE TABLE beckon.expected_event (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  since timestamp with time zone NOT NULL,
  marked_by text COLLATE "C" NOT NULL
);
COMMENT ON COLUMN beckon.expected_event.since IS 'Names and properties that first occur after this are reported as drift.';

CREATE TABLE beckon.hit (
  project_id bigint NOT NULL,
  email_id uuid NOT NULL,
  number integer NOT NULL,
  kind text COLLATE "C" NOT NULL,
  link integer,
  at timestamp with time zone NOT NULL,
  bot text COLLATE "C",
  bot_reason text COLLATE "C",
  agent text COLLATE "C",
  remote text COLLATE "C",
  signs text[] COLLATE "C" NOT NULL
);
COMMENT ON COLUMN beckon.hit.bot IS 'NULL until the hit is classified. agent and remote are deleted before the rest of the row.';

CREATE TABLE beckon.hit_count (
  project_id bigint NOT NULL,
  email_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  hits bigint NOT NULL,
  classify_at timestamp with time zone
) WITH (fillfactor=80);
COMMENT ON TABLE beckon.hit_count IS 'Every hit is counted; at most 100 for each email are kept. Adding a hit locks this row.';
COMMENT ON COLUMN beckon.hit_count.classify_at IS 'When the oldest unclassified hit is classified. NULL: all are classified.';

CREATE TABLE beckon.idempotency (
  project_id bigint NOT NULL,
  key bytea NOT NULL,
  fingerprint bytea NOT NULL,
  status smallint NOT NULL,
  body bytea,
  accepted_at timestamp with time zone NOT NULL
);
ALTER TABLE beckon.idempotency ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE beckon.import (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  problem text COLLATE "C",
  size_bytes bigint,
  file_modified_at bigint,
  mapping json,
  options json,
  encrypted_key bytea,
  is_live boolean NOT NULL,
  check_report json,
  "position" json,
  counts json NOT NULL,
  facts json NOT NULL,
  findings bigint NOT NULL,
  pace real,
  pace_rows bigint NOT NULL,
  pace_at timestamp with time zone,
  waits_for text COLLATE "C",
  epoch integer NOT NULL,
  lease_until timestamp with time zone,
  queued_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  started_at timestamp with time zone,
  ended_at timestamp with time zone
) WITH (fillfactor=70);
COMMENT ON TABLE beckon.import IS 'One import of a project runs at a time, in the order of queued_at.';
COMMENT ON COLUMN beckon.import."position" IS 'Everything after this position is still to be imported.';
COMMENT ON COLUMN beckon.import.epoch IS 'If two processes believe that they run the import, only commits with this epoch count.';

CREATE TABLE beckon.import_erased (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  user_hash bytea NOT NULL
);
COMMENT ON TABLE beckon.import_erased IS 'Users who were erased before the import ended, as a hash with the id of the import. Their records are skipped.';

CREATE TABLE beckon.import_finding (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  n bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  line bigint,
  field text COLLATE "C",
  message text COLLATE "C" NOT NULL,
  raw text COLLATE "C" NOT NULL
);
COMMENT ON TABLE beckon.import_finding IS 'Rejected rows, and what the source reported about single objects.';

CREATE TABLE beckon.import_part (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  part integer NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL
);
COMMENT ON TABLE beckon.import_part IS 'A file in parts of equal size, each compressed with zstd.';

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
  request_id text COLLATE "C" NOT NULL,
  key_id uuid,
  bytes bigint,
  slowest_ms integer,
  faults jsonb
);
COMMENT ON COLUMN beckon.ingest_log.faults IS 'Which records were rejected, and why.';

CREATE TABLE beckon.ingest_queue (
  project_id bigint NOT NULL,
  seq bigint NOT NULL,
  priority text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  records integer NOT NULL,
  body bytea NOT NULL,
  accepted_at timestamp with time zone NOT NULL,
  applied integer NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
ALTER TABLE beckon.ingest_queue ALTER COLUMN body SET STORAGE EXTERNAL;
COMMENT ON TABLE beckon.ingest_queue IS 'Each priority is read on its own, so priority comes before seq in the primary key.';
COMMENT ON COLUMN beckon.ingest_queue.applied IS 'How many records of the chunk are processed: a chunk may be processed in parts.';

CREATE TABLE beckon.ingest_queue_state (
  project_id bigint NOT NULL,
  next_seq bigint NOT NULL,
  waiting bigint NOT NULL
) WITH (fillfactor=50);

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
COMMENT ON TABLE beckon.installation IS 'Local to this database: the check value of the secret key.';

CREATE TABLE beckon.outcome (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  email_id uuid NOT NULL,
  draft_id uuid NOT NULL,
  rule_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  link integer NOT NULL DEFAULT '-1'::integer,
  class text COLLATE "C" NOT NULL DEFAULT ''::text,
  occurred_at timestamp with time zone NOT NULL,
  recorded_at timestamp with time zone NOT NULL,
  detail jsonb NOT NULL
);
COMMENT ON COLUMN beckon.outcome.class IS 'Opens and clicks: the classification. Replies: the id that the recipient gave them. Unsubscribes: "complaint" if they are one. Bounces: "unverified" if only a Message-ID names the email. Otherwise empty.';

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
  created_at timestamp with time zone NOT NULL,
  organization_id text COLLATE "C",
  is_demo boolean NOT NULL DEFAULT false,
  sandbox_of bigint,
  sandbox_id bigint,
  is_closed boolean NOT NULL DEFAULT false
);
COMMENT ON COLUMN beckon.project.organization_id IS 'NULL until the first organization is set up; the project then joins it.';
COMMENT ON COLUMN beckon.project.is_demo IS 'Generated data: no email of the project leaves this machine, and the whole project can be removed.';
COMMENT ON COLUMN beckon.project.sandbox_of IS 'On the sandbox: its live project. sandbox_id is the reverse reference, on the live project.';
COMMENT ON COLUMN beckon.project.is_closed IS 'The keys of a sandbox are rejected while the setting "sandbox" of its live project is off.';

CREATE TABLE beckon.project_lock (
  project_id bigint NOT NULL,
  model bigint NOT NULL,
  ahead_ms bigint NOT NULL DEFAULT 0
) WITH (fillfactor=50);
COMMENT ON COLUMN beckon.project_lock.ahead_ms IS 'How far the test clock of a sandbox is ahead of real time. Stored with the project lock, so that its holder needs no other lookup.';

CREATE TABLE beckon.project_settings (
  project_id bigint NOT NULL,
  settings jsonb NOT NULL
);

CREATE TABLE beckon.project_timer (
  project_id bigint NOT NULL,
  next_at timestamp with time zone,
  work text COLLATE "C" NOT NULL,
  ahead_ms bigint NOT NULL DEFAULT 0
) WITH (fillfactor=50);
COMMENT ON TABLE beckon.project_timer IS 'When a project has work next, for each kind of work.';
COMMENT ON COLUMN beckon.project_timer.ahead_ms IS 'How far the test clock of a sandbox is ahead. next_at is in real time.';

CREATE TABLE beckon.rate_limit (
  project_id bigint NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  rate double precision NOT NULL,
  burst double precision NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamp with time zone NOT NULL
) WITH (fillfactor=50);

CREATE TABLE beckon.relay (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  settings jsonb NOT NULL,
  encrypted_secrets bytea NOT NULL,
  generation integer NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  checked_at timestamp with time zone,
  check_failure text COLLATE "C",
  failing_since timestamp with time zone,
  failed_at timestamp with time zone,
  failure text COLLATE "C",
  feedback_proven_at timestamp with time zone,
  feedback_cursor text COLLATE "C"
);
COMMENT ON TABLE beckon.relay IS 'A relay of a project, or with project_id 0 of the installation. The kind smtp_url is the feedback of the relay of SMTP_URL.';
COMMENT ON COLUMN beckon.relay.settings IS 'The values of its fields that are not secret.';
COMMENT ON COLUMN beckon.relay.encrypted_secrets IS 'The values of its secret fields as a JSON object.';
COMMENT ON COLUMN beckon.relay.generation IS 'Raised by each change of its settings or secrets. Workers open a new connection for each generation.';
COMMENT ON COLUMN beckon.relay.check_failure IS 'Why the last test failed. Null: it succeeded, or there was none.';
COMMENT ON COLUMN beckon.relay.failing_since IS 'Since when a worker pauses it because it fails. Set together with failed_at and failure.';
COMMENT ON COLUMN beckon.relay.failed_at IS 'When a worker last paused it.';
COMMENT ON COLUMN beckon.relay.feedback_proven_at IS 'When an outcome of an email of ours was first reported through this relay.';
COMMENT ON COLUMN beckon.relay.feedback_cursor IS 'The position in the events of the provider, for relays whose events are pulled.';

CREATE TABLE beckon.relay_assignment (
  project_id bigint NOT NULL,
  domain text COLLATE "C" NOT NULL,
  relay_project_id bigint NOT NULL,
  relay_id uuid NOT NULL
);
COMMENT ON TABLE beckon.relay_assignment IS 'The relay of a project or of one of its sending domains. With project_id 0: the relay of all projects without one.';
COMMENT ON COLUMN beckon.relay_assignment.domain IS 'Empty: all domains of the project that have no relay of their own.';

CREATE TABLE beckon.relay_event (
  project_id bigint NOT NULL,
  relay uuid NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  received_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.relay_event IS 'The events of providers that were applied, so that none is applied again. Kept for 30 days.';
COMMENT ON COLUMN beckon.relay_event.project_id IS 'The owner of the relay.';
COMMENT ON COLUMN beckon.relay_event.event_id IS 'The SHA-256 of the id of the provider, which may contain an address.';

CREATE TABLE beckon.reply (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  email_id uuid NOT NULL,
  draft_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  inbound_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  verified text COLLATE "C" NOT NULL,
  received_at timestamp with time zone NOT NULL,
  from_address text COLLATE "C" NOT NULL,
  from_name text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  raw bytea,
  forward_at timestamp with time zone,
  forward_attempts integer NOT NULL DEFAULT 0,
  forwarded_at timestamp with time zone,
  forward_error text COLLATE "C"
);
COMMENT ON COLUMN beckon.reply.verified IS 'How it is known that the reply belongs to the email.';
COMMENT ON COLUMN beckon.reply.forward_at IS 'When the reply is next forwarded to the team. NULL: it was forwarded, or will not be.';

CREATE TABLE beckon.reply_source (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  settings jsonb NOT NULL,
  encrypted_secrets bytea NOT NULL,
  generation integer NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  next_read_at timestamp with time zone,
  read_at timestamp with time zone,
  uid_validity bigint,
  last_uid bigint,
  attempts integer NOT NULL DEFAULT 0,
  failing_since timestamp with time zone,
  failure text COLLATE "C",
  counts jsonb NOT NULL DEFAULT '{}'::jsonb
);
COMMENT ON TABLE beckon.reply_source IS 'Where a project receives replies without port 25: a mailbox, or the webhook of a provider.';
COMMENT ON COLUMN beckon.reply_source.settings IS 'The values of its fields that are not secret.';
COMMENT ON COLUMN beckon.reply_source.encrypted_secrets IS 'The values of its secret fields as a JSON object.';
COMMENT ON COLUMN beckon.reply_source.generation IS 'Raised by each change of its settings or secrets. A worker that reads with older settings writes nothing.';
COMMENT ON COLUMN beckon.reply_source.next_read_at IS 'When a worker reads the mailbox next. While one reads, the end of its lease. NULL: nothing is read, because emails are pushed.';
COMMENT ON COLUMN beckon.reply_source.read_at IS 'When the mailbox was last read to its end, or an email was last pushed.';
COMMENT ON COLUMN beckon.reply_source.last_uid IS 'All emails up to this UID were received. Valid only together with uid_validity.';
COMMENT ON COLUMN beckon.reply_source.attempts IS 'How often the email after last_uid could not be read.';
COMMENT ON COLUMN beckon.reply_source.counts IS 'How many emails were received, by what became of them.';

CREATE TABLE beckon.reply_source_email (
  project_id bigint NOT NULL,
  inbound_id text COLLATE "C" NOT NULL,
  received_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.reply_source_email IS 'Emails from reply sources that had an effect, so that none has it again when a mailbox gives new UIDs to all emails.';
COMMENT ON COLUMN beckon.reply_source_email.inbound_id IS 'A hash of its Message-ID, or else of its author, subject and text.';

CREATE TABLE beckon.rule (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  mode text COLLATE "C" NOT NULL,
  deadline_ms bigint,
  enabled_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  demoted_at timestamp with time zone,
  demoted_reason text COLLATE "C"
);
COMMENT ON COLUMN beckon.rule.enabled_at IS 'NULL while the rule is disabled.';
COMMENT ON COLUMN beckon.rule.demoted_at IS 'When autopilot was last turned off because of the outcomes of the rule''s emails.';

CREATE TABLE beckon.rule_enrollment (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  rule_id uuid NOT NULL,
  state text COLLATE "C" NOT NULL,
  started_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  next_at timestamp with time zone,
  after_user text COLLATE "C",
  members bigint NOT NULL,
  processed bigint NOT NULL,
  enrolled bigint NOT NULL,
  excluded jsonb NOT NULL,
  cancel_reason text COLLATE "C"
);

CREATE TABLE beckon.rule_timer (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  rule_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  at timestamp with time zone NOT NULL,
  version integer NOT NULL,
  trigger smallint NOT NULL,
  anchor jsonb NOT NULL
);
COMMENT ON TABLE beckon.rule_timer IS 'When a rule with a trigger in time is evaluated, in the version that the rule had when the event set the timer.';

CREATE TABLE beckon.rule_version (
  project_id bigint NOT NULL,
  rule_id uuid NOT NULL,
  version integer NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL,
  created_by text COLLATE "C"
);
COMMENT ON COLUMN beckon.rule_version.created_by IS 'NULL if no member wrote it.';

CREATE TABLE beckon.run (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  rule_id uuid NOT NULL,
  version integer NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  variant text COLLATE "C" NOT NULL,
  single boolean NOT NULL,
  step integer NOT NULL,
  waits_for text COLLATE "C",
  next_at timestamp with time zone,
  anchor jsonb NOT NULL,
  ends_at timestamp with time zone,
  enrolled_at timestamp with time zone NOT NULL,
  goal_until timestamp with time zone,
  converted_at timestamp with time zone,
  ended_at timestamp with time zone,
  end_reason text COLLATE "C",
  lost_ms bigint
);
COMMENT ON TABLE beckon.run IS 'A run in the holdout ends at once; only its goal is still tracked.';
COMMENT ON COLUMN beckon.run.single IS 'The rule allows one active run for each user.';
COMMENT ON COLUMN beckon.run.lost_ms IS 'After a restore: the length of the lost time in which an email of this run may have been sent. Its next emails may have been sent in it too. Rarely set.';

CREATE TABLE beckon.sandbox_advance (
  project_id bigint NOT NULL,
  holder uuid NOT NULL,
  lease_until timestamp with time zone NOT NULL
);

CREATE TABLE beckon.saved_view (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  screen text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  filter text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  created_by text COLLATE "C" NOT NULL
);
COMMENT ON COLUMN beckon.saved_view.screen IS 'The list that the filter belongs to.';

CREATE TABLE beckon.send_bucket (
  project_id bigint NOT NULL,
  domain text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  per_second double precision NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamp with time zone NOT NULL,
  changed_at timestamp with time zone NOT NULL
) WITH (fillfactor=50);
COMMENT ON TABLE beckon.send_bucket IS 'Token buckets: of a sending domain, and of a mailbox provider that asked for a lower rate.';

CREATE TABLE beckon.send_lock (
  project_id bigint NOT NULL,
  tokens double precision,
  refilled_at timestamp with time zone
) WITH (fillfactor=50);
COMMENT ON TABLE beckon.send_lock IS 'The send lock of a project, with the token bucket of its throttle.';

CREATE TABLE beckon.sending_domain (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  findings jsonb NOT NULL,
  misses integer NOT NULL,
  failing_since timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  state_at timestamp with time zone NOT NULL,
  verified_at timestamp with time zone,
  checked_at timestamp with time zone,
  next_check_at timestamp with time zone,
  throttle text COLLATE "C" NOT NULL,
  warm boolean NOT NULL,
  warmup_from timestamp with time zone,
  paused_at timestamp with time zone,
  paused_reason text COLLATE "C",
  resumed_at timestamp with time zone,
  tracking_host text COLLATE "C",
  tracking_state text COLLATE "C",
  tracking_found text COLLATE "C",
  tracking_misses integer NOT NULL DEFAULT 0,
  tracking_since timestamp with time zone,
  tracking_checked_at timestamp with time zone,
  tracking_next_at timestamp with time zone,
  tracking_worked_at timestamp with time zone
);
COMMENT ON TABLE beckon.sending_domain IS 'A domain whose emails are refused for their content is paused until a member resumes it.';
COMMENT ON COLUMN beckon.sending_domain.findings IS 'What the last DNS check found for each record.';
COMMENT ON COLUMN beckon.sending_domain.misses IS 'Consecutive checks since failing_since that found a wrong record. Timeouts and server failures do not count.';
COMMENT ON COLUMN beckon.sending_domain.tracking_host IS 'The domain''s own host name for tracked links.';
COMMENT ON COLUMN beckon.sending_domain.tracking_worked_at IS 'When the tracking host first reached this installation. A host that never did must not change how requests are answered.';

CREATE TABLE beckon.suppression (
  project_id bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  until timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  weaker_entries jsonb,
  from_erased boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE beckon.suppression IS 'Rows about an erased user have the kinds email_hash and user_hash. Their value is an HMAC-SHA-256 in hex, so that no address and no user id is kept.';
COMMENT ON COLUMN beckon.suppression.weaker_entries IS 'Weaker entries of other origin about the same recipient, with their reason, until, created_at and created_by. They stay in force when the stronger entry is lifted.';
COMMENT ON COLUMN beckon.suppression.from_erased IS 'The address of an erased user came back with a new user. The dashboard uses this to explain why a user who never unsubscribed is suppressed.';

CREATE TABLE beckon.suppression_key (
  only_row boolean NOT NULL DEFAULT true,
  encrypted_key bytea NOT NULL,
  created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.suppression_key IS 'The random key of this installation for hashes of erased users, encrypted with the secret key.';

CREATE TABLE beckon.suppression_lift (
  project_id bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  recipient_hash bytea NOT NULL,
  reason text COLLATE "C" NOT NULL,
  suppressed_at timestamp with time zone NOT NULL,
  suppressed_by text COLLATE "C" NOT NULL,
  lifted_at timestamp with time zone NOT NULL,
  lifted_by text COLLATE "C" NOT NULL
);
COMMENT ON TABLE beckon.suppression_lift IS 'The last lifted suppression of each recipient, and who lifted it. The recipient is a hash: a lookup by address finds it, and no erased user is named.';

CREATE TABLE beckon.team_account (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  access_token text COLLATE "C",
  refresh_token text COLLATE "C",
  id_token text COLLATE "C",
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text COLLATE "C",
  password text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.team_attempt (
  key text COLLATE "C" NOT NULL,
  count integer NOT NULL,
  window_ends_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.team_attempt IS 'Counts sign-in attempts in windows, by IP address and by account.';

CREATE TABLE beckon.team_device (
  device_hash bytea NOT NULL,
  code_hash bytea NOT NULL,
  label text COLLATE "C" NOT NULL,
  scopes text[] COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  requested_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  state text COLLATE "C" NOT NULL,
  decided_by text COLLATE "C"
);
COMMENT ON TABLE beckon.team_device IS 'A program that waits for approval, for ten minutes. Both of its codes are stored as hashes. The token is created when it is fetched.';

CREATE TABLE beckon.team_digest (
  project_id bigint NOT NULL,
  sent_at timestamp with time zone NOT NULL,
  reported_until timestamp with time zone
);
COMMENT ON COLUMN beckon.team_digest.sent_at IS 'When a process last took over notifying the team.';
COMMENT ON COLUMN beckon.team_digest.reported_until IS 'Everything up to this time has reached the team. If a summary could not be sent, the next one includes it.';

CREATE TABLE beckon.team_link (
  token_hash text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  email text COLLATE "C",
  organization_id text COLLATE "C",
  role text COLLATE "C",
  clears_two_factor boolean NOT NULL DEFAULT false,
  created_by text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone
);
COMMENT ON TABLE beckon.team_link IS 'Only the hash of a link is stored.';

CREATE TABLE beckon.team_member (
  organization_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  wants_digest boolean,
  created_at timestamp with time zone NOT NULL
);
COMMENT ON COLUMN beckon.team_member.wants_digest IS 'NULL: the default of the role, which is yes for roles that can act on drafts.';

CREATE TABLE beckon.team_organization (
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  requires_two_factor boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.team_passkey (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  credential_id text COLLATE "C" NOT NULL,
  public_key text COLLATE "C" NOT NULL,
  counter bigint NOT NULL,
  transports text COLLATE "C",
  created_at timestamp with time zone
);

CREATE TABLE beckon.team_session (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  token text COLLATE "C" NOT NULL,
  ip_address text COLLATE "C",
  user_agent text COLLATE "C",
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  confirmed_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.team_session IS 'The columns of team_session, team_user, team_account, team_verification, team_two_factor and team_passkey are those of better-auth, which writes them.';
COMMENT ON COLUMN beckon.team_session.confirmed_at IS 'When the member last proved their identity: by signing in, or by confirming it since.';

CREATE TABLE beckon.team_token (
  id uuid NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  scopes text[] COLLATE "C" NOT NULL,
  last4 text COLLATE "C" NOT NULL,
  salt bytea NOT NULL,
  hash bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone
);
COMMENT ON TABLE beckon.team_token IS 'Found by its last four characters, like an API key. Only a salted hash is stored.';

CREATE TABLE beckon.team_two_factor (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  secret text COLLATE "C" NOT NULL,
  backup_codes text COLLATE "C" NOT NULL,
  verified boolean,
  failed_verification_count integer,
  locked_until timestamp with time zone
);

CREATE TABLE beckon.team_user (
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  email_verified boolean NOT NULL,
  image text COLLATE "C",
  two_factor_enabled boolean,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.team_verification (
  id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.template (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.template IS 'A template has a name and immutable versions.';

CREATE TABLE beckon.template_preview (
  project_id bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  content jsonb NOT NULL,
  at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.template_preview IS 'Text that is being edited, kept for a day for its preview frame. The id is a hash of the text. Variables are not filled in, so it contains no user data.';

CREATE TABLE beckon.template_unpublished (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  format text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  preheader text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  saved_at timestamp with time zone NOT NULL,
  saved_by text COLLATE "C" NOT NULL
);
COMMENT ON TABLE beckon.template_unpublished IS 'Template text that is saved but not published. Keyed by name, which built-in templates have too.';

CREATE TABLE beckon.template_version (
  project_id bigint NOT NULL,
  template_id uuid NOT NULL,
  version integer NOT NULL,
  format text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  preheader text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  html text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  created_by text COLLATE "C" NOT NULL
);
COMMENT ON COLUMN beckon.template_version.html IS 'For MJML: the compiled HTML with its variables still in place, so that nothing is compiled per email.';

CREATE TABLE beckon.test_inbox_email (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  copy integer NOT NULL,
  draft_id uuid,
  mail_from text COLLATE "C" NOT NULL,
  rcpt_to text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  external_user_id text COLLATE "C",
  raw bytea NOT NULL,
  size integer NOT NULL,
  at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.test_inbox_email IS 'Test inbox: what the server sent to itself while no relay is set.';
COMMENT ON COLUMN beckon.test_inbox_email.copy IS 'Counts arrivals of one email from 1. There must never be a second; if there is one, it must be visible.';
COMMENT ON COLUMN beckon.test_inbox_email.raw IS 'Compressed. size is that of the email as it arrived.';

CREATE TABLE beckon.topic_unsubscribe (
  project_id bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  topic text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE beckon.topic_unsubscribe IS 'Topics that an address (for every user who has it) or a user does not want. A suppression covers all topics.';

CREATE TABLE beckon.tracking_link (
  project_id bigint NOT NULL,
  email_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  opens boolean NOT NULL,
  urls text[] COLLATE "C" NOT NULL
);
COMMENT ON TABLE beckon.tracking_link IS 'The link targets of an email, which the tracking URLs do not contain; numbered from 0. Written with the email: an email without a row is not tracked.';

CREATE TABLE beckon.webhook (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  outcome_id uuid,
  type text COLLATE "C" NOT NULL,
  external_user_id text COLLATE "C",
  body text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  erased_at timestamp with time zone
);
COMMENT ON TABLE beckon.webhook IS 'An outcome as the bytes that every endpoint receives. Its deliveries are in webhook_delivery.';

CREATE TABLE beckon.webhook_attempt (
  project_id bigint NOT NULL,
  webhook_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  number integer NOT NULL,
  trigger text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  started_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  status integer,
  error text COLLATE "C",
  answer text COLLATE "C"
) WITH (fillfactor=80);
COMMENT ON TABLE beckon.webhook_attempt IS 'Written before the request is sent. An attempt without an end was cut off.';

CREATE TABLE beckon.webhook_delivery (
  project_id bigint NOT NULL,
  webhook_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  state text COLLATE "C" NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  trigger text COLLATE "C" NOT NULL DEFAULT 'auto'::text,
  next_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  delivered_at timestamp with time zone
) WITH (fillfactor=70);
COMMENT ON COLUMN beckon.webhook_delivery.tries IS 'Attempts in the current schedule. A replay starts a new schedule.';
COMMENT ON COLUMN beckon.webhook_delivery.next_at IS 'When the delivery is tried next or, while it is being sent, when its claim expires.';

CREATE TABLE beckon.webhook_endpoint (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  url text COLLATE "C" NOT NULL,
  types text[] COLLATE "C",
  description text COLLATE "C" NOT NULL DEFAULT ''::text,
  created_at timestamp with time zone NOT NULL,
  disabled_at timestamp with time zone,
  disabled_reason text COLLATE "C",
  per_second double precision NOT NULL,
  in_flight_max integer NOT NULL
);

CREATE TABLE beckon.webhook_health (
  project_id bigint NOT NULL,
  endpoint_id uuid NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamp with time zone NOT NULL,
  open_until timestamp with time zone,
  windows jsonb NOT NULL DEFAULT '[]'::jsonb,
  failing_since timestamp with time zone,
  failures integer NOT NULL DEFAULT 0,
  warned_at timestamp with time zone,
  succeeded_at timestamp with time zone
) WITH (fillfactor=50);
COMMENT ON TABLE beckon.webhook_health IS 'What deliveries change often, apart from the settings in webhook_endpoint. Claiming and recording deliveries of an endpoint locks its row.';
COMMENT ON COLUMN beckon.webhook_health.windows IS 'What the circuit breaker counts, oldest first.';
COMMENT ON COLUMN beckon.webhook_health.failing_since IS 'The first failure since the last success.';

CREATE TABLE beckon.webhook_listener (
  project_id bigint NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  encrypted_secret bytea NOT NULL,
  created_at timestamp with time zone NOT NULL
);

CREATE TABLE beckon.webhook_secret (
  project_id bigint NOT NULL,
  endpoint_id uuid NOT NULL,
  id uuid NOT NULL,
  encrypted_secret bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone
);


ALTER TABLE beckon.activity ADD CONSTRAINT activity_kind_check CHECK ((kind = ANY (ARRAY['user_created'::text, 'user_changed'::text, 'user_erased'::text, 'audience_joined'::text, 'audience_left'::text, 'audience_built'::text, 'bulk_change'::text])));
ALTER TABLE beckon.activity ADD CONSTRAINT activity_pkey PRIMARY KEY (project_id, at, id);
ALTER TABLE beckon.ai_drafting ADD CONSTRAINT ai_drafting_check CHECK (((next_at IS NULL) = (result IS NOT NULL)));
ALTER TABLE beckon.ai_drafting ADD CONSTRAINT ai_drafting_pkey PRIMARY KEY (project_id, draft_id);
ALTER TABLE beckon.ai_drafting ADD CONSTRAINT ai_drafting_result_check CHECK ((result = ANY (ARRAY['drafted'::text, 'refused'::text, 'declined'::text, 'failed'::text, 'too_late'::text, 'changed'::text, 'not_supported'::text, 'off'::text])));
ALTER TABLE beckon.api_key ADD CONSTRAINT api_key_env_check CHECK ((env = ANY (ARRAY['live'::text, 'test'::text])));
ALTER TABLE beckon.api_key ADD CONSTRAINT api_key_pkey PRIMARY KEY (last4, id);
ALTER TABLE beckon.api_key_traffic ADD CONSTRAINT api_key_traffic_pkey PRIMARY KEY (project_id, key_id, day);
ALTER TABLE beckon.api_key_traffic ADD CONSTRAINT api_key_traffic_requests_check CHECK ((requests > 0));
ALTER TABLE beckon.api_key_use ADD CONSTRAINT api_key_use_pkey PRIMARY KEY (project_id, key_id);
ALTER TABLE beckon.audience ADD CONSTRAINT audience_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.audience ADD CONSTRAINT audience_project_id_name_key UNIQUE (project_id, name);
ALTER TABLE beckon.audience_day ADD CONSTRAINT audience_day_pkey PRIMARY KEY (project_id, audience_id, day);
ALTER TABLE beckon.audience_member ADD CONSTRAINT audience_member_pkey PRIMARY KEY (project_id, external_user_id, version_id);
ALTER TABLE beckon.audience_timer ADD CONSTRAINT audience_timer_pkey PRIMARY KEY (project_id, external_user_id, version_id) INCLUDE (at);
ALTER TABLE beckon.audience_version ADD CONSTRAINT audience_version_members_check CHECK ((members >= 0));
ALTER TABLE beckon.audience_version ADD CONSTRAINT audience_version_pkey PRIMARY KEY (project_id, version_id);
ALTER TABLE beckon.audience_version ADD CONSTRAINT audience_version_state_check CHECK ((state = ANY (ARRAY['building'::text, 'served'::text, 'retired'::text])));
ALTER TABLE beckon.audit ADD CONSTRAINT audit_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.billing_customer ADD CONSTRAINT billing_customer_pkey PRIMARY KEY (project_id, import_id, customer_id);
ALTER TABLE beckon.billing_object ADD CONSTRAINT billing_object_kind_check CHECK ((kind = ANY (ARRAY['product'::text, 'price'::text, 'subscription'::text, 'invoice'::text])));
ALTER TABLE beckon.billing_object ADD CONSTRAINT billing_object_pkey PRIMARY KEY (project_id, import_id, customer_id, kind, object_id);
ALTER TABLE beckon.billing_snapshot ADD CONSTRAINT billing_snapshot_pkey PRIMARY KEY (project_id, import_id);
ALTER TABLE beckon.counted_event ADD CONSTRAINT counted_event_pkey PRIMARY KEY (project_id, name);
ALTER TABLE beckon.database_timeline ADD CONSTRAINT database_timeline_accepted_as_check CHECK ((accepted_as = ANY (ARRAY['set_up'::text, 'confirmed'::text, 'nothing_lost'::text, 'failover'::text, 'upgraded'::text])));
ALTER TABLE beckon.database_timeline ADD CONSTRAINT database_timeline_check CHECK (((accepted_at IS NULL) = (accepted_as IS NULL)));
ALTER TABLE beckon.database_timeline ADD CONSTRAINT database_timeline_pkey PRIMARY KEY (system_id, timeline);
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_kind_check CHECK ((kind = ANY (ARRAY['users'::text, 'events'::text])));
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (project_id, seq);
ALTER TABLE beckon.dead_letter ADD CONSTRAINT dead_letter_priority_check CHECK ((priority = ANY (ARRAY['live'::text, 'bulk'::text])));
ALTER TABLE beckon.decision ADD CONSTRAINT decision_count_check CHECK ((count > 0));
ALTER TABLE beckon.decision ADD CONSTRAINT decision_pkey PRIMARY KEY (project_id, external_user_id, rule_id, key, reason);
ALTER TABLE beckon.dkim_key ADD CONSTRAINT dkim_key_pkey PRIMARY KEY (project_id, domain_id, slot);
ALTER TABLE beckon.dkim_key ADD CONSTRAINT dkim_key_slot_check CHECK ((slot = ANY (ARRAY['a'::text, 'b'::text])));
ALTER TABLE beckon.dkim_key ADD CONSTRAINT dkim_key_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'published'::text, 'active'::text, 'retiring'::text])));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_autopilot_ms_check CHECK ((autopilot_ms > 0));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_check CHECK (((state = 'held'::text) = (resume_state IS NOT NULL)));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_check1 CHECK (((state <> ALL (ARRAY['held'::text, 'canceled'::text, 'failed'::text])) OR (reason IS NOT NULL)));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_check2 CHECK (((state = ANY (ARRAY['sent'::text, 'skipped'::text, 'canceled'::text, 'failed'::text, 'unknown'::text])) = (ended_at IS NOT NULL)));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_check3 CHECK (((state = ANY (ARRAY['scheduled'::text, 'approved'::text, 'held'::text])) OR (due_at IS NULL)));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_format_check CHECK ((format = ANY (ARRAY['markdown'::text, 'html'::text])));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_moves_check CHECK ((moves > 0));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.draft ADD CONSTRAINT draft_resume_state_check CHECK ((resume_state = ANY (ARRAY['scheduled'::text, 'approved'::text])));
ALTER TABLE beckon.draft ADD CONSTRAINT draft_state_check CHECK ((state = ANY (ARRAY['scheduled'::text, 'approved'::text, 'held'::text, 'sending'::text, 'sent'::text, 'skipped'::text, 'canceled'::text, 'failed'::text, 'unknown'::text])));
ALTER TABLE beckon.draft_content ADD CONSTRAINT draft_content_pkey PRIMARY KEY (project_id, draft_id, content_hash);
ALTER TABLE beckon.draft_move ADD CONSTRAINT draft_move_pkey PRIMARY KEY (project_id, draft_id, number);
ALTER TABLE beckon.email ADD CONSTRAINT email_check CHECK (((state = ANY (ARRAY['claimed'::text, 'submitting'::text])) = (next_at IS NOT NULL)));
ALTER TABLE beckon.email ADD CONSTRAINT email_pkey PRIMARY KEY (project_id, draft_id);
ALTER TABLE beckon.email ADD CONSTRAINT email_state_check CHECK ((state = ANY (ARRAY['claimed'::text, 'submitting'::text, 'deferred'::text, 'sent'::text, 'failed'::text, 'unknown'::text])));
ALTER TABLE beckon.email_mime ADD CONSTRAINT email_mime_pkey PRIMARY KEY (project_id, draft_id);
ALTER TABLE beckon.enrollment_record ADD CONSTRAINT enrollment_record_pkey PRIMARY KEY (project_id, external_user_id, rule_id, key);
ALTER TABLE beckon.erasure ADD CONSTRAINT erasure_pkey PRIMARY KEY (project_id, external_user_id);
ALTER TABLE beckon.event ADD CONSTRAINT event_pkey PRIMARY KEY (project_id, received_at, id);
ALTER TABLE beckon.event_dedupe ADD CONSTRAINT event_dedupe_pkey PRIMARY KEY (project_id, dedupe_key);
ALTER TABLE beckon.event_property ADD CONSTRAINT event_property_pkey PRIMARY KEY (project_id, name, property, type);
ALTER TABLE beckon.event_property ADD CONSTRAINT event_property_type_check CHECK ((type = ANY (ARRAY['string'::text, 'number'::text, 'boolean'::text, 'null'::text, 'array'::text, 'object'::text])));
ALTER TABLE beckon.event_volume ADD CONSTRAINT event_volume_pkey PRIMARY KEY (project_id, name, day);
ALTER TABLE beckon.expected_event ADD CONSTRAINT expected_event_pkey PRIMARY KEY (project_id, name);
ALTER TABLE beckon.hit ADD CONSTRAINT hit_bot_check CHECK ((bot = ANY (ARRAY['yes'::text, 'probable'::text, 'no'::text])));
ALTER TABLE beckon.hit ADD CONSTRAINT hit_check CHECK (((kind = 'click'::text) = (link IS NOT NULL)));
ALTER TABLE beckon.hit ADD CONSTRAINT hit_kind_check CHECK ((kind = ANY (ARRAY['open'::text, 'click'::text, 'trap'::text])));
ALTER TABLE beckon.hit ADD CONSTRAINT hit_number_check CHECK (((number >= 1) AND (number <= 100)));
ALTER TABLE beckon.hit ADD CONSTRAINT hit_pkey PRIMARY KEY (project_id, email_id, number);
ALTER TABLE beckon.hit_count ADD CONSTRAINT hit_count_hits_check CHECK ((hits > 0));
ALTER TABLE beckon.hit_count ADD CONSTRAINT hit_count_pkey PRIMARY KEY (project_id, email_id);
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_fingerprint_check CHECK ((octet_length(fingerprint) = 32));
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_key_check CHECK ((octet_length(key) = 16));
ALTER TABLE beckon.idempotency ADD CONSTRAINT idempotency_pkey PRIMARY KEY (project_id, key);
ALTER TABLE beckon.import ADD CONSTRAINT import_kind_check CHECK ((kind = ANY (ARRAY['users'::text, 'events'::text, 'stripe'::text])));
ALTER TABLE beckon.import ADD CONSTRAINT import_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.import ADD CONSTRAINT import_state_check CHECK ((state = ANY (ARRAY['uploading'::text, 'ready'::text, 'checking'::text, 'checked'::text, 'running'::text, 'paused'::text, 'done'::text, 'failed'::text, 'canceled'::text])));
ALTER TABLE beckon.import_erased ADD CONSTRAINT import_erased_pkey PRIMARY KEY (project_id, import_id, user_hash);
ALTER TABLE beckon.import_finding ADD CONSTRAINT import_finding_pkey PRIMARY KEY (project_id, import_id, n);
ALTER TABLE beckon.import_part ADD CONSTRAINT import_part_pkey PRIMARY KEY (project_id, import_id, part);
ALTER TABLE beckon.ingest_log ADD CONSTRAINT ingest_log_pkey PRIMARY KEY (project_id, at, id);
ALTER TABLE beckon.ingest_log ADD CONSTRAINT ingest_log_requests_check CHECK ((requests > 0));
ALTER TABLE beckon.ingest_queue ADD CONSTRAINT ingest_queue_check CHECK (((applied >= 0) AND (applied < records)));
ALTER TABLE beckon.ingest_queue ADD CONSTRAINT ingest_queue_kind_check CHECK ((kind = ANY (ARRAY['users'::text, 'events'::text])));
ALTER TABLE beckon.ingest_queue ADD CONSTRAINT ingest_queue_pkey PRIMARY KEY (project_id, priority, seq);
ALTER TABLE beckon.ingest_queue ADD CONSTRAINT ingest_queue_priority_check CHECK ((priority = ANY (ARRAY['live'::text, 'bulk'::text])));
ALTER TABLE beckon.ingest_queue ADD CONSTRAINT ingest_queue_records_check CHECK ((records > 0));
ALTER TABLE beckon.ingest_queue_state ADD CONSTRAINT ingest_queue_state_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.ingest_queue_state ADD CONSTRAINT ingest_queue_state_waiting_check CHECK ((waiting >= 0));
ALTER TABLE beckon.ingest_warning ADD CONSTRAINT ingest_warning_pkey PRIMARY KEY (project_id, code, day);
ALTER TABLE beckon.installation ADD CONSTRAINT installation_only_row_check CHECK (only_row);
ALTER TABLE beckon.installation ADD CONSTRAINT installation_pkey PRIMARY KEY (only_row);
ALTER TABLE beckon.outcome ADD CONSTRAINT outcome_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.outcome ADD CONSTRAINT outcome_type_check CHECK ((type = ANY (ARRAY['email.opened'::text, 'email.clicked'::text, 'email.replied'::text, 'email.bounced'::text, 'email.unsubscribed'::text])));
ALTER TABLE beckon.person ADD CONSTRAINT person_pkey PRIMARY KEY (project_id, external_user_id);
ALTER TABLE beckon.person_email ADD CONSTRAINT person_email_pkey PRIMARY KEY (project_id, external_user_id);
ALTER TABLE beckon.person_event ADD CONSTRAINT person_event_count_check CHECK ((count > 0));
ALTER TABLE beckon.person_event ADD CONSTRAINT person_event_pkey PRIMARY KEY (project_id, external_user_id, name);
ALTER TABLE beckon.project ADD CONSTRAINT project_check CHECK (((sandbox_of IS NULL) OR (NOT livemode)));
ALTER TABLE beckon.project ADD CONSTRAINT project_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.project_lock ADD CONSTRAINT project_lock_ahead_ms_check CHECK ((ahead_ms >= 0));
ALTER TABLE beckon.project_lock ADD CONSTRAINT project_lock_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.project_settings ADD CONSTRAINT project_settings_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.project_timer ADD CONSTRAINT project_timer_ahead_ms_check CHECK ((ahead_ms >= 0));
ALTER TABLE beckon.project_timer ADD CONSTRAINT project_timer_pkey PRIMARY KEY (project_id, work);
ALTER TABLE beckon.project_timer ADD CONSTRAINT project_timer_work_check CHECK ((work = ANY (ARRAY['process'::text, 'send'::text, 'webhooks'::text])));
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_burst_check CHECK ((burst >= (1)::double precision));
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (project_id, endpoint);
ALTER TABLE beckon.rate_limit ADD CONSTRAINT rate_limit_rate_check CHECK ((rate > (0)::double precision));
ALTER TABLE beckon.relay ADD CONSTRAINT relay_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.relay ADD CONSTRAINT relay_project_id_name_key UNIQUE (project_id, name);
ALTER TABLE beckon.relay_assignment ADD CONSTRAINT relay_assignment_pkey PRIMARY KEY (project_id, domain);
ALTER TABLE beckon.relay_event ADD CONSTRAINT relay_event_pkey PRIMARY KEY (project_id, relay, event_id);
ALTER TABLE beckon.reply ADD CONSTRAINT reply_kind_check CHECK ((kind = ANY (ARRAY['reply'::text, 'auto_reply'::text])));
ALTER TABLE beckon.reply ADD CONSTRAINT reply_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.reply_source ADD CONSTRAINT reply_source_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.reply_source_email ADD CONSTRAINT reply_source_email_pkey PRIMARY KEY (project_id, inbound_id);
ALTER TABLE beckon.rule ADD CONSTRAINT rule_deadline_ms_check CHECK ((deadline_ms > 0));
ALTER TABLE beckon.rule ADD CONSTRAINT rule_mode_check CHECK ((mode = ANY (ARRAY['draft'::text, 'autopilot'::text])));
ALTER TABLE beckon.rule ADD CONSTRAINT rule_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.rule ADD CONSTRAINT rule_project_id_name_key UNIQUE (project_id, name);
ALTER TABLE beckon.rule_enrollment ADD CONSTRAINT rule_enrollment_cancel_reason_check CHECK ((cancel_reason = ANY (ARRAY['rule_off'::text, 'rule_edited'::text])));
ALTER TABLE beckon.rule_enrollment ADD CONSTRAINT rule_enrollment_check CHECK (((ended_at IS NULL) = (state = 'running'::text)));
ALTER TABLE beckon.rule_enrollment ADD CONSTRAINT rule_enrollment_check1 CHECK (((next_at IS NULL) = (state <> 'running'::text)));
ALTER TABLE beckon.rule_enrollment ADD CONSTRAINT rule_enrollment_check2 CHECK (((state = 'running'::text) OR (after_user IS NULL)));
ALTER TABLE beckon.rule_enrollment ADD CONSTRAINT rule_enrollment_check3 CHECK (((cancel_reason IS NOT NULL) = (state = 'canceled'::text)));
ALTER TABLE beckon.rule_enrollment ADD CONSTRAINT rule_enrollment_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.rule_enrollment ADD CONSTRAINT rule_enrollment_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'canceled'::text])));
ALTER TABLE beckon.rule_timer ADD CONSTRAINT rule_timer_pkey PRIMARY KEY (project_id, external_user_id, rule_id, key);
ALTER TABLE beckon.rule_version ADD CONSTRAINT rule_version_pkey PRIMARY KEY (project_id, rule_id, version);
ALTER TABLE beckon.run ADD CONSTRAINT run_check CHECK (((state = 'ended'::text) = (ended_at IS NOT NULL)));
ALTER TABLE beckon.run ADD CONSTRAINT run_check1 CHECK (((state = 'ended'::text) OR (waits_for IS NOT NULL)));
ALTER TABLE beckon.run ADD CONSTRAINT run_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.run ADD CONSTRAINT run_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'ended'::text])));
ALTER TABLE beckon.run ADD CONSTRAINT run_variant_check CHECK ((variant = ANY (ARRAY['treatment'::text, 'holdout'::text])));
ALTER TABLE beckon.run ADD CONSTRAINT run_waits_for_check CHECK ((waits_for = ANY (ARRAY['time'::text, 'event'::text, 'draft'::text])));
ALTER TABLE beckon.sandbox_advance ADD CONSTRAINT sandbox_advance_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.saved_view ADD CONSTRAINT saved_view_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.send_bucket ADD CONSTRAINT send_bucket_per_second_check CHECK ((per_second > (0)::double precision));
ALTER TABLE beckon.send_bucket ADD CONSTRAINT send_bucket_pkey PRIMARY KEY (project_id, domain, provider);
ALTER TABLE beckon.send_lock ADD CONSTRAINT send_lock_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.sending_domain ADD CONSTRAINT sending_domain_check CHECK (((tracking_host IS NULL) = (tracking_state IS NULL)));
ALTER TABLE beckon.sending_domain ADD CONSTRAINT sending_domain_check1 CHECK (((tracking_host IS NULL) = (tracking_since IS NULL)));
ALTER TABLE beckon.sending_domain ADD CONSTRAINT sending_domain_check2 CHECK (((tracking_host IS NULL) = (tracking_next_at IS NULL)));
ALTER TABLE beckon.sending_domain ADD CONSTRAINT sending_domain_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.sending_domain ADD CONSTRAINT sending_domain_project_id_name_key UNIQUE (project_id, name);
ALTER TABLE beckon.sending_domain ADD CONSTRAINT sending_domain_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'verified'::text, 'degraded'::text, 'failed'::text])));
ALTER TABLE beckon.sending_domain ADD CONSTRAINT sending_domain_tracking_state_check CHECK ((tracking_state = ANY (ARRAY['pending'::text, 'working'::text, 'failed'::text])));
ALTER TABLE beckon.suppression ADD CONSTRAINT suppression_hash_check CHECK (((kind = ANY (ARRAY['email'::text, 'user'::text])) OR (value ~ '^[0-9a-f]{64}$'::text)));
ALTER TABLE beckon.suppression ADD CONSTRAINT suppression_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'user'::text, 'email_hash'::text, 'user_hash'::text])));
ALTER TABLE beckon.suppression ADD CONSTRAINT suppression_pkey PRIMARY KEY (project_id, kind, value);
ALTER TABLE beckon.suppression_key ADD CONSTRAINT suppression_key_only_row_check CHECK (only_row);
ALTER TABLE beckon.suppression_key ADD CONSTRAINT suppression_key_pkey PRIMARY KEY (only_row);
ALTER TABLE beckon.suppression_lift ADD CONSTRAINT suppression_lift_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'user'::text, 'email_hash'::text, 'user_hash'::text])));
ALTER TABLE beckon.suppression_lift ADD CONSTRAINT suppression_lift_pkey PRIMARY KEY (project_id, kind, recipient_hash);
ALTER TABLE beckon.team_account ADD CONSTRAINT team_account_pkey PRIMARY KEY (id);
ALTER TABLE beckon.team_account ADD CONSTRAINT team_account_user_id_provider_id_key UNIQUE (user_id, provider_id);
ALTER TABLE beckon.team_attempt ADD CONSTRAINT team_attempt_pkey PRIMARY KEY (key);
ALTER TABLE beckon.team_device ADD CONSTRAINT team_device_check CHECK (((state = 'waiting'::text) = (decided_by IS NULL)));
ALTER TABLE beckon.team_device ADD CONSTRAINT team_device_code_hash_key UNIQUE (code_hash);
ALTER TABLE beckon.team_device ADD CONSTRAINT team_device_pkey PRIMARY KEY (device_hash);
ALTER TABLE beckon.team_device ADD CONSTRAINT team_device_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'approved'::text, 'denied'::text, 'used'::text])));
ALTER TABLE beckon.team_digest ADD CONSTRAINT team_digest_pkey PRIMARY KEY (project_id);
ALTER TABLE beckon.team_link ADD CONSTRAINT team_link_id_key UNIQUE (id);
ALTER TABLE beckon.team_link ADD CONSTRAINT team_link_kind_check CHECK ((kind = ANY (ARRAY['setup'::text, 'invite'::text, 'reset'::text])));
ALTER TABLE beckon.team_link ADD CONSTRAINT team_link_pkey PRIMARY KEY (token_hash);
ALTER TABLE beckon.team_member ADD CONSTRAINT team_member_pkey PRIMARY KEY (organization_id, user_id);
ALTER TABLE beckon.team_member ADD CONSTRAINT team_member_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'reviewer'::text, 'editor'::text, 'admin'::text, 'owner'::text])));
ALTER TABLE beckon.team_organization ADD CONSTRAINT team_organization_pkey PRIMARY KEY (id);
ALTER TABLE beckon.team_passkey ADD CONSTRAINT team_passkey_credential_id_key UNIQUE (credential_id);
ALTER TABLE beckon.team_passkey ADD CONSTRAINT team_passkey_pkey PRIMARY KEY (id);
ALTER TABLE beckon.team_session ADD CONSTRAINT team_session_pkey PRIMARY KEY (id);
ALTER TABLE beckon.team_session ADD CONSTRAINT team_session_token_key UNIQUE (token);
ALTER TABLE beckon.team_token ADD CONSTRAINT team_token_pkey PRIMARY KEY (id);
ALTER TABLE beckon.team_two_factor ADD CONSTRAINT team_two_factor_pkey PRIMARY KEY (id);
ALTER TABLE beckon.team_two_factor ADD CONSTRAINT team_two_factor_user_id_key UNIQUE (user_id);
ALTER TABLE beckon.team_user ADD CONSTRAINT team_user_email_key UNIQUE (email);
ALTER TABLE beckon.team_user ADD CONSTRAINT team_user_pkey PRIMARY KEY (id);
ALTER TABLE beckon.team_verification ADD CONSTRAINT team_verification_pkey PRIMARY KEY (id);
ALTER TABLE beckon.template ADD CONSTRAINT template_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.template ADD CONSTRAINT template_project_id_name_key UNIQUE (project_id, name);
ALTER TABLE beckon.template_preview ADD CONSTRAINT template_preview_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.template_unpublished ADD CONSTRAINT template_unpublished_format_check CHECK ((format = ANY (ARRAY['markdown'::text, 'mjml'::text])));
ALTER TABLE beckon.template_unpublished ADD CONSTRAINT template_unpublished_pkey PRIMARY KEY (project_id, name);
ALTER TABLE beckon.template_version ADD CONSTRAINT template_version_check CHECK (((format = 'mjml'::text) = (html IS NOT NULL)));
ALTER TABLE beckon.template_version ADD CONSTRAINT template_version_format_check CHECK ((format = ANY (ARRAY['markdown'::text, 'mjml'::text])));
ALTER TABLE beckon.template_version ADD CONSTRAINT template_version_pkey PRIMARY KEY (project_id, template_id, version);
ALTER TABLE beckon.test_inbox_email ADD CONSTRAINT test_inbox_email_copy_check CHECK ((copy > 0));
ALTER TABLE beckon.test_inbox_email ADD CONSTRAINT test_inbox_email_pkey PRIMARY KEY (project_id, id, copy);
ALTER TABLE beckon.topic_unsubscribe ADD CONSTRAINT topic_unsubscribe_hash_check CHECK (((kind = ANY (ARRAY['email'::text, 'user'::text])) OR (value ~ '^[0-9a-f]{64}$'::text)));
ALTER TABLE beckon.topic_unsubscribe ADD CONSTRAINT topic_unsubscribe_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'user'::text, 'email_hash'::text, 'user_hash'::text])));
ALTER TABLE beckon.topic_unsubscribe ADD CONSTRAINT topic_unsubscribe_pkey PRIMARY KEY (project_id, kind, value, topic);
ALTER TABLE beckon.tracking_link ADD CONSTRAINT tracking_link_pkey PRIMARY KEY (project_id, email_id);
ALTER TABLE beckon.webhook ADD CONSTRAINT webhook_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.webhook_attempt ADD CONSTRAINT webhook_attempt_number_check CHECK ((number > 0));
ALTER TABLE beckon.webhook_attempt ADD CONSTRAINT webhook_attempt_pkey PRIMARY KEY (project_id, webhook_id, endpoint_id, number);
ALTER TABLE beckon.webhook_attempt ADD CONSTRAINT webhook_attempt_trigger_check CHECK ((trigger = ANY (ARRAY['auto'::text, 'manual'::text])));
ALTER TABLE beckon.webhook_delivery ADD CONSTRAINT webhook_delivery_check CHECK (((state = ANY (ARRAY['pending'::text, 'delivering'::text])) = (next_at IS NOT NULL)));
ALTER TABLE beckon.webhook_delivery ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (project_id, webhook_id, endpoint_id);
ALTER TABLE beckon.webhook_delivery ADD CONSTRAINT webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivering'::text, 'delivered'::text, 'exhausted'::text, 'missed'::text, 'canceled'::text])));
ALTER TABLE beckon.webhook_delivery ADD CONSTRAINT webhook_delivery_trigger_check CHECK ((trigger = ANY (ARRAY['auto'::text, 'manual'::text])));
ALTER TABLE beckon.webhook_endpoint ADD CONSTRAINT webhook_endpoint_check CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL)));
ALTER TABLE beckon.webhook_endpoint ADD CONSTRAINT webhook_endpoint_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['manual'::text, 'gone'::text, 'failing'::text, 'deleted'::text])));
ALTER TABLE beckon.webhook_endpoint ADD CONSTRAINT webhook_endpoint_in_flight_max_check CHECK ((in_flight_max > 0));
ALTER TABLE beckon.webhook_endpoint ADD CONSTRAINT webhook_endpoint_per_second_check CHECK ((per_second > (0)::double precision));
ALTER TABLE beckon.webhook_endpoint ADD CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (project_id, id);
ALTER TABLE beckon.webhook_health ADD CONSTRAINT webhook_health_pkey PRIMARY KEY (project_id, endpoint_id);
ALTER TABLE beckon.webhook_listener ADD CONSTRAINT webhook_listener_pkey PRIMARY KEY (project_id, member_id);
ALTER TABLE beckon.webhook_secret ADD CONSTRAINT webhook_secret_pkey PRIMARY KEY (project_id, endpoint_id, id);
ALTER TABLE beckon.billing_customer ADD CONSTRAINT billing_customer_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES beckon.import(project_id, id) ON DELETE CASCADE;
ALTER TABLE beckon.billing_object ADD CONSTRAINT billing_object_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES beckon.import(project_id, id) ON DELETE CASCADE;
ALTER TABLE beckon.billing_snapshot ADD CONSTRAINT billing_snapshot_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES beckon.import(project_id, id) ON DELETE CASCADE;
ALTER TABLE beckon.import_erased ADD CONSTRAINT import_erased_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES beckon.import(project_id, id) ON DELETE CASCADE;
ALTER TABLE beckon.import_finding ADD CONSTRAINT import_finding_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES beckon.import(project_id, id) ON DELETE CASCADE;
ALTER TABLE beckon.import_part ADD CONSTRAINT import_part_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES beckon.import(project_id, id) ON DELETE CASCADE;
ALTER TABLE beckon.ingest_queue_state ADD CONSTRAINT ingest_queue_state_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.project_lock ADD CONSTRAINT project_lock_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.project_settings ADD CONSTRAINT project_settings_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.project_timer ADD CONSTRAINT project_timer_project_id_fkey FOREIGN KEY (project_id) REFERENCES beckon.project(project_id);
ALTER TABLE beckon.team_account ADD CONSTRAINT team_account_user_id_fkey FOREIGN KEY (user_id) REFERENCES beckon.team_user(id) ON DELETE CASCADE;
ALTER TABLE beckon.team_device ADD CONSTRAINT team_device_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES beckon.team_user(id) ON DELETE CASCADE;
ALTER TABLE beckon.team_link ADD CONSTRAINT team_link_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES beckon.team_organization(id) ON DELETE CASCADE;
ALTER TABLE beckon.team_member ADD CONSTRAINT team_member_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES beckon.team_organization(id) ON DELETE CASCADE;
ALTER TABLE beckon.team_member ADD CONSTRAINT team_member_user_id_fkey FOREIGN KEY (user_id) REFERENCES beckon.team_user(id) ON DELETE CASCADE;
ALTER TABLE beckon.team_passkey ADD CONSTRAINT team_passkey_user_id_fkey FOREIGN KEY (user_id) REFERENCES beckon.team_user(id) ON DELETE CASCADE;
ALTER TABLE beckon.team_session ADD CONSTRAINT team_session_user_id_fkey FOREIGN KEY (user_id) REFERENCES beckon.team_user(id) ON DELETE CASCADE;
ALTER TABLE beckon.team_token ADD CONSTRAINT team_token_user_id_fkey FOREIGN KEY (user_id) REFERENCES beckon.team_user(id) ON DELETE CASCADE;
ALTER TABLE beckon.team_two_factor ADD CONSTRAINT team_two_factor_user_id_fkey FOREIGN KEY (user_id) REFERENCES beckon.team_user(id) ON DELETE CASCADE;

CREATE INDEX activity_bulk ON beckon.activity USING btree (project_id, at) WHERE (kind = 'bulk_change'::text);
COMMENT ON INDEX beckon.activity_bulk IS 'The history of a user depends on when imports ran. Import changes are few among all changes.';
CREATE INDEX activity_person ON beckon.activity USING btree (project_id, external_user_id, at) WHERE (external_user_id IS NOT NULL);
CREATE INDEX ai_drafting_next_at ON beckon.ai_drafting USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX ai_drafting_person ON beckon.ai_drafting USING btree (project_id, external_user_id);
CREATE INDEX api_key_project ON beckon.api_key USING btree (project_id);
CREATE INDEX audience_member_version ON beckon.audience_member USING btree (project_id, ((version_id + 0)), external_user_id);
COMMENT ON INDEX beckon.audience_member_version IS 'Processing looks up a few versions of one user, which the primary key answers with one descent. The planner rates an index on version_id as equally good, though it needs a descent for each version. "version_id + 0" keeps it from choosing this index for that query.';
CREATE INDEX audience_timer_at ON beckon.audience_timer USING btree (project_id, at);
CREATE INDEX audience_timer_version ON beckon.audience_timer USING btree (project_id, ((version_id + 0)));
COMMENT ON INDEX beckon.audience_timer_version IS 'See audience_member_version.';
CREATE UNIQUE INDEX audience_version_current ON beckon.audience_version USING btree (project_id, audience_id, state) WHERE (state <> 'retired'::text);
CREATE INDEX audience_version_unfinished ON beckon.audience_version USING btree (state) WHERE (state <> 'served'::text);
CREATE INDEX billing_customer_address ON beckon.billing_customer USING btree (project_id, import_id, address, named_user_id) WHERE ((address IS NOT NULL) AND (named_user_id IS NOT NULL));
CREATE INDEX billing_customer_open ON beckon.billing_customer USING btree (project_id, import_id, customer_id) WHERE (matched_by IS NULL);
CREATE INDEX billing_customer_user ON beckon.billing_customer USING btree (project_id, import_id, user_id, created) WHERE (user_id IS NOT NULL);
CREATE INDEX dead_letter_person ON beckon.dead_letter USING btree (project_id, ((record ->> 'external_user_id'::text)));
CREATE INDEX decision_rule ON beckon.decision USING btree (project_id, rule_id, last_at);
CREATE INDEX draft_created_at ON beckon.draft USING btree (project_id, created_at, id);
CREATE INDEX draft_due_at ON beckon.draft USING btree (project_id, due_at, id) WHERE (due_at IS NOT NULL);
CREATE INDEX draft_ended ON beckon.draft USING btree (project_id, rule_id, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX draft_move_at ON beckon.draft_move USING btree (project_id, at, id) WHERE (from_state IS NOT NULL);
CREATE INDEX draft_move_decided ON beckon.draft_move USING btree (project_id, at, id) WHERE (action = ANY (ARRAY['approve'::text, 'edit'::text, 'skip'::text, 'postpone'::text]));
CREATE INDEX draft_open ON beckon.draft USING btree (project_id, rule_id, version) WHERE (ended_at IS NULL);
CREATE INDEX draft_open_id ON beckon.draft USING btree (project_id, id) WHERE (ended_at IS NULL);
CREATE INDEX draft_person ON beckon.draft USING btree (project_id, external_user_id);
CREATE INDEX draft_review ON beckon.draft USING btree (project_id, (
CASE
    WHEN ((state = 'scheduled'::text) OR (reason = 'editing'::text)) THEN 0
    WHEN (reason = 'postponed'::text) THEN 2
    ELSE 1
END), COALESCE(deadline_at, 'infinity'::timestamp with time zone), id) WHERE ((ended_at IS NULL) AND (state = ANY (ARRAY['scheduled'::text, 'held'::text])) AND ((resume_state IS DISTINCT FROM 'approved'::text) OR (reason = ANY (ARRAY['needs_review'::text, 'replied'::text, 'restored'::text]))));
COMMENT ON INDEX beckon.draft_review IS 'The order of the review screen: drafts with a deadline, drafts without one, held drafts, postponed drafts. Emails that were approved and may have been sent before a restore are included. modules/review/list-drafts.ts has the same condition and the same two expressions.';
CREATE INDEX draft_unsettled ON beckon.draft USING btree (project_id, ended_at) WHERE (state = ANY (ARRAY['failed'::text, 'unknown'::text]));
COMMENT ON INDEX beckon.draft_unsettled IS 'Emails that failed or whose delivery is unknown: few among all that ended, and read by every page.';
CREATE INDEX email_address ON beckon.email USING btree (project_id, address, claimed_at) WHERE counts;
CREATE INDEX email_ask_at ON beckon.email USING btree (project_id, ask_at) WHERE (ask_at IS NOT NULL);
CREATE INDEX email_claimed_at ON beckon.email USING btree (project_id, claimed_at, id);
CREATE INDEX email_domain ON beckon.email USING btree (project_id, domain, claimed_at) WHERE (domain IS NOT NULL);
CREATE UNIQUE INDEX email_id ON beckon.email USING btree (project_id, id);
CREATE INDEX email_mime_frozen_at ON beckon.email_mime USING btree (project_id, frozen_at);
CREATE INDEX email_person ON beckon.email USING btree (project_id, external_user_id);
CREATE INDEX email_relay_id ON beckon.email USING btree (project_id, relay_id) WHERE (relay IS NOT NULL);
CREATE INDEX email_rule ON beckon.email USING btree (project_id, rule_id, claimed_at, id);
CREATE INDEX email_unfinished ON beckon.email USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX event_person ON beckon.event USING btree (project_id, external_user_id, name, occurred_at);
CREATE INDEX hit_agent_at ON beckon.hit USING btree (project_id, at) WHERE ((agent IS NOT NULL) OR (remote IS NOT NULL));
CREATE INDEX hit_count_classify_at ON beckon.hit_count USING btree (classify_at) WHERE (classify_at IS NOT NULL);
CREATE INDEX hit_count_person ON beckon.hit_count USING btree (project_id, external_user_id);
CREATE INDEX idempotency_accepted_at ON beckon.idempotency USING btree (accepted_at);
COMMENT ON INDEX beckon.idempotency_accepted_at IS 'A B-tree and not BRIN: once space in the table is reused, page ranges no longer follow time, and each cleanup step read the table from its start.';
CREATE INDEX import_at_work ON beckon.import USING btree (project_id, queued_at, id) WHERE (state = ANY (ARRAY['checking'::text, 'running'::text]));
CREATE INDEX outcome_bad ON beckon.outcome USING btree (project_id, email_id) WHERE (type = ANY (ARRAY['email.bounced'::text, 'email.unsubscribed'::text]));
CREATE UNIQUE INDEX outcome_once ON beckon.outcome USING btree (project_id, email_id, type, link, class);
COMMENT ON INDEX beckon.outcome_once IS 'An outcome is recorded once for each email, type, link and class, forever.';
CREATE INDEX outcome_person ON beckon.outcome USING btree (project_id, external_user_id, recorded_at);
CREATE INDEX outcome_recorded_at ON beckon.outcome USING btree (project_id, recorded_at, id);
CREATE INDEX outcome_rule ON beckon.outcome USING btree (project_id, rule_id, type, recorded_at);
CREATE INDEX person_email_lower ON beckon.person_email USING btree (project_id, email_lower);
CREATE INDEX person_first_seen_at ON beckon.person USING btree (project_id, first_seen_at, external_user_id);
CREATE INDEX person_written_seq ON beckon.person USING btree (project_id) WHERE (written_seq IS NOT NULL);
CREATE INDEX project_of_organization ON beckon.project USING btree (organization_id);
CREATE INDEX project_timer_next_at ON beckon.project_timer USING btree (work, next_at);
CREATE INDEX relay_assignment_relay ON beckon.relay_assignment USING btree (relay_project_id, relay_id);
CREATE INDEX relay_event_received_at ON beckon.relay_event USING btree (received_at);
CREATE INDEX relay_id ON beckon.relay USING btree (id);
CREATE UNIQUE INDEX relay_smtp_url ON beckon.relay USING btree (project_id) WHERE (kind = 'smtp_url'::text);
CREATE INDEX reply_forward_at ON beckon.reply USING btree (forward_at) WHERE (forward_at IS NOT NULL);
CREATE UNIQUE INDEX reply_once ON beckon.reply USING btree (project_id, email_id, inbound_id);
CREATE INDEX reply_person ON beckon.reply USING btree (project_id, external_user_id, received_at);
CREATE INDEX reply_received_at ON beckon.reply USING btree (project_id, received_at, id);
CREATE INDEX reply_source_email_received_at ON beckon.reply_source_email USING btree (project_id, received_at);
CREATE INDEX reply_source_id ON beckon.reply_source USING btree (id);
CREATE INDEX reply_source_next_read_at ON beckon.reply_source USING btree (next_read_at) WHERE (next_read_at IS NOT NULL);
CREATE INDEX rule_enrollment_rule ON beckon.rule_enrollment USING btree (project_id, rule_id, id);
CREATE UNIQUE INDEX rule_enrollment_running ON beckon.rule_enrollment USING btree (project_id, rule_id) WHERE (state = 'running'::text);
CREATE INDEX rule_timer_at ON beckon.rule_timer USING btree (project_id, at);
CREATE INDEX run_goal ON beckon.run USING btree (project_id, rule_id, version, goal_until) WHERE ((goal_until IS NOT NULL) AND (converted_at IS NULL));
CREATE INDEX run_next_at ON beckon.run USING btree (project_id, next_at) WHERE ((state = 'active'::text) AND (next_at IS NOT NULL));
CREATE INDEX run_person ON beckon.run USING btree (project_id, external_user_id);
CREATE INDEX run_rule ON beckon.run USING btree (project_id, rule_id, version) WHERE (state <> 'ended'::text);
CREATE UNIQUE INDEX run_single ON beckon.run USING btree (project_id, rule_id, external_user_id) WHERE (single AND (state <> 'ended'::text));
CREATE INDEX run_under_way ON beckon.run USING btree (project_id, external_user_id) WHERE ((state <> 'ended'::text) OR ((goal_until IS NOT NULL) AND (converted_at IS NULL)));
CREATE UNIQUE INDEX saved_view_name ON beckon.saved_view USING btree (project_id, screen, name);
CREATE INDEX sending_domain_next_check_at ON beckon.sending_domain USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE INDEX sending_domain_tracking_next_at ON beckon.sending_domain USING btree (tracking_next_at) WHERE (tracking_next_at IS NOT NULL);
CREATE INDEX suppression_created_at ON beckon.suppression USING btree (project_id, created_at, kind, value);
CREATE INDEX team_attempt_ended ON beckon.team_attempt USING btree (window_ends_at);
CREATE INDEX team_device_expired ON beckon.team_device USING btree (expires_at);
CREATE INDEX team_link_of_organization ON beckon.team_link USING btree (organization_id);
CREATE INDEX team_member_of_user ON beckon.team_member USING btree (user_id);
CREATE INDEX team_passkey_of_user ON beckon.team_passkey USING btree (user_id);
CREATE INDEX team_session_of_user ON beckon.team_session USING btree (user_id);
CREATE INDEX team_token_live ON beckon.team_token USING btree (last4) WHERE (revoked_at IS NULL);
CREATE INDEX team_token_of_user ON beckon.team_token USING btree (user_id, created_at);
CREATE INDEX team_verification_by_identifier ON beckon.team_verification USING btree (identifier);
CREATE INDEX template_preview_at ON beckon.template_preview USING btree (project_id, at);
CREATE INDEX test_inbox_email_at ON beckon.test_inbox_email USING btree (project_id, at, id, copy);
CREATE INDEX test_inbox_email_draft ON beckon.test_inbox_email USING btree (project_id, draft_id) WHERE (draft_id IS NOT NULL);
CREATE INDEX test_inbox_email_person ON beckon.test_inbox_email USING btree (project_id, external_user_id) WHERE (external_user_id IS NOT NULL);
CREATE INDEX tracking_link_person ON beckon.tracking_link USING btree (project_id, external_user_id);
CREATE INDEX webhook_created_at ON beckon.webhook USING btree (project_id, created_at, id);
CREATE INDEX webhook_delivery_fresh ON beckon.webhook_delivery USING btree (project_id, endpoint_id, state, next_at, webhook_id) WHERE ((next_at IS NOT NULL) AND (trigger = 'auto'::text));
COMMENT ON INDEX beckon.webhook_delivery_fresh IS 'Finds new deliveries behind any number of replayed ones.';
CREATE INDEX webhook_delivery_next_at ON beckon.webhook_delivery USING btree (project_id, endpoint_id, state, next_at, webhook_id) WHERE (next_at IS NOT NULL);
CREATE INDEX webhook_person ON beckon.webhook USING btree (project_id, external_user_id) WHERE (external_user_id IS NOT NULL);
