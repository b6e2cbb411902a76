import { type Kysely, sql } from 'kysely';

/**
 * Deciding whether a letter should be written, and holding it for a human: rules and whom they entered, runs through their
 * steps, the ledger of decisions, drafts and their moves, and the right to send.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(DUE).execute(db);
  await sql.raw(RULES).execute(db);
  await sql.raw(RUNS).execute(db);
  await sql.raw(DECISIONS).execute(db);
  await sql.raw(DRAFTS).execute(db);
  await sql.raw(SENDING).execute(db);
}

/** Two alarms for each project: what the digest has to look at next, and what the sender has. */
const DUE = `
ALTER TABLE beckon.tenant_due ADD COLUMN work text COLLATE "C" NOT NULL DEFAULT 'digest' CHECK (work IN ('digest', 'send'));
ALTER TABLE beckon.tenant_due ALTER COLUMN work DROP DEFAULT;
ALTER TABLE beckon.tenant_due DROP CONSTRAINT tenant_due_pkey;
ALTER TABLE beckon.tenant_due ADD PRIMARY KEY (project_id, work);
DROP INDEX beckon.tenant_due_next_at;
CREATE INDEX tenant_due_next_at ON beckon.tenant_due (work, next_at);
INSERT INTO beckon.tenant_due (project_id, work) SELECT project_id, 'send' FROM beckon.project;
`;

/**
 * \`enabled_at\` is null while a rule is off. Entries are keyed by rule, not by version; timers hold the moment at which a
 * rule whose trigger lies in time is to be considered, by the version that it had when the event armed it.
 */
const RULES = `
CREATE TABLE beckon.rule (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('draft', 'autopilot')),
  deadline_ms bigint CHECK (deadline_ms > 0),
  enabled_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, id),
  UNIQUE (project_id, name)
);

CREATE TABLE beckon.rule_version (
  project_id bigint NOT NULL,
  rule_id uuid NOT NULL,
  version integer NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, rule_id, version)
);

CREATE TABLE beckon.rule_entry (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  rule_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  entered_at timestamptz NOT NULL,
  level smallint NOT NULL,
  PRIMARY KEY (project_id, external_user_id, rule_id, key)
);

CREATE TABLE beckon.rule_timer (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  rule_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  version integer NOT NULL,
  trigger smallint NOT NULL,
  anchor jsonb NOT NULL,
  PRIMARY KEY (project_id, external_user_id, rule_id, key)
);
CREATE INDEX rule_timer_at ON beckon.rule_timer (project_id, at);
`;

/** \`single\`: of a rule that lets a person in once at a time. A run of the holdout is over at once; only its goal is waited for. */
const RUNS = `
CREATE TABLE beckon.run (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  rule_id uuid NOT NULL,
  version integer NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('active', 'frozen', 'ended')),
  arm text COLLATE "C" NOT NULL CHECK (arm IN ('letter', 'holdout')),
  single boolean NOT NULL,
  step integer NOT NULL,
  waits_for text COLLATE "C" CHECK (waits_for IN ('time', 'event', 'draft')),
  next_at timestamptz,
  anchor jsonb NOT NULL,
  ends_at timestamptz,
  entered_at timestamptz NOT NULL,
  goal_until timestamptz,
  converted_at timestamptz,
  ended_at timestamptz,
  end_reason text COLLATE "C",
  PRIMARY KEY (project_id, id),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK (state = 'ended' OR waits_for IS NOT NULL)
);
CREATE UNIQUE INDEX run_single ON beckon.run (project_id, rule_id, external_user_id) WHERE single AND state <> 'ended';
CREATE INDEX run_person ON beckon.run (project_id, external_user_id);
CREATE INDEX run_under_way ON beckon.run (project_id, external_user_id)
  WHERE state <> 'ended' OR (goal_until IS NOT NULL AND converted_at IS NULL);
CREATE INDEX run_next_at ON beckon.run (project_id, next_at) WHERE state = 'active' AND next_at IS NOT NULL;
CREATE INDEX run_rule ON beckon.run (project_id, rule_id, version) WHERE state <> 'ended';
CREATE INDEX run_goal ON beckon.run (project_id, rule_id, version, goal_until)
  WHERE goal_until IS NOT NULL AND converted_at IS NULL;
`;

/** One row for each rule, person, entry key and reason: that it fired, or the first gate that said no. */
const DECISIONS = `
CREATE TABLE beckon.decision (
  project_id bigint NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  rule_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  count bigint NOT NULL CHECK (count > 0),
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  detail jsonb NOT NULL,
  PRIMARY KEY (project_id, external_user_id, rule_id, key, reason)
) WITH (fillfactor = 80);
CREATE INDEX decision_rule ON beckon.decision (project_id, rule_id, last_at);
`;

/**
 * \`due_at\` is the next moment at which the sender has to look: the deadline of a scheduled draft, \`not_before\` of an approved
 * one, the moment until which a gate holds a held one. Null: only a person or an event moves it.
 */
const DRAFTS = `
CREATE TABLE beckon.draft (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  rule_id uuid NOT NULL,
  version integer NOT NULL,
  run_id uuid,
  step integer NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN
    ('composing', 'scheduled', 'approved', 'held', 'sending', 'sent', 'skipped', 'cancelled', 'failed', 'unknown')),
  resume_state text COLLATE "C" CHECK (resume_state IN ('composing', 'scheduled', 'approved')),
  reason text COLLATE "C",
  subject text COLLATE "C" NOT NULL,
  preheader text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  content_hash text COLLATE "C" NOT NULL,
  is_edited boolean NOT NULL,
  facts jsonb NOT NULL,
  priority integer NOT NULL,
  counts boolean NOT NULL,
  autopilot_ms bigint CHECK (autopilot_ms > 0),
  deadline_at timestamptz,
  not_before timestamptz,
  due_at timestamptz,
  expires_at timestamptz,
  ends_at timestamptz,
  lease_by text COLLATE "C",
  again_of uuid,
  moves integer NOT NULL CHECK (moves > 0),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (project_id, id),
  CHECK ((state = 'held') = (resume_state IS NOT NULL)),
  CHECK (state NOT IN ('held', 'cancelled', 'failed') OR reason IS NOT NULL),
  CHECK ((state IN ('sent', 'skipped', 'cancelled', 'failed', 'unknown')) = (ended_at IS NOT NULL)),
  CHECK (state IN ('composing', 'scheduled', 'approved', 'held') OR due_at IS NULL)
) WITH (fillfactor = 80);
CREATE INDEX draft_due_at ON beckon.draft (project_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX draft_created_at ON beckon.draft (project_id, created_at, id);
CREATE INDEX draft_person ON beckon.draft (project_id, external_user_id);
CREATE INDEX draft_open_id ON beckon.draft (project_id, id) WHERE ended_at IS NULL;
CREATE INDEX draft_open ON beckon.draft (project_id, rule_id, version) WHERE ended_at IS NULL;
CREATE INDEX draft_ended ON beckon.draft (project_id, rule_id, ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE beckon.draft_move (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  number integer NOT NULL,
  at timestamptz NOT NULL,
  action text COLLATE "C" NOT NULL,
  from_state text COLLATE "C",
  to_state text COLLATE "C" NOT NULL,
  actor text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  content_hash text COLLATE "C" NOT NULL,
  detail jsonb NOT NULL,
  PRIMARY KEY (project_id, draft_id, number)
);

CREATE TABLE beckon.team_digest (
  project_id bigint PRIMARY KEY,
  sent_at timestamptz NOT NULL
);
`;

/**
 * \`send_turn\` is the right to send for a project, with the tokens of its throttle. \`message\`: one for each draft, for ever;
 * the frequency caps count them by address.
 */
const SENDING = `
CREATE TABLE beckon.send_turn (
  project_id bigint PRIMARY KEY,
  tokens double precision,
  refilled_at timestamptz
) WITH (fillfactor = 50);
INSERT INTO beckon.send_turn (project_id) SELECT project_id FROM beckon.project;

CREATE TABLE beckon.message (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  id uuid NOT NULL,
  rule_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('claimed', 'submitting', 'deferred', 'sent', 'failed', 'unknown')),
  counts boolean NOT NULL,
  claimed_at timestamptz NOT NULL,
  ended_at timestamptz,
  reason text COLLATE "C",
  PRIMARY KEY (project_id, draft_id)
);
CREATE INDEX message_claimed_at ON beckon.message (project_id, claimed_at, id);
CREATE INDEX message_address ON beckon.message (project_id, address, claimed_at) WHERE counts;
CREATE INDEX message_person ON beckon.message (project_id, external_user_id);
CREATE INDEX message_unfinished ON beckon.message (claimed_at) WHERE state IN ('claimed', 'submitting');

CREATE TABLE beckon.suppression (
  project_id bigint NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('address', 'person')),
  value text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  until timestamptz,
  created_at timestamptz NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, kind, value)
);
`;
