import { type Kysely, sql } from 'kysely';

/** What became of letters: hits, outcomes, replies, what recipients chose, and the webhooks that tell all of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [LETTERS, EVENTS, RULES, HITS, OUTCOMES, REPLIES, CHOICES, WEBHOOKS, DOMAINS, DUES])
    await sql.raw(part).execute(db);
}

/** `letter`: the name of what the rule writes, as tables of outcomes group them. */
const LETTERS = `
ALTER TABLE beckon.message ADD COLUMN letter text COLLATE "C";
CREATE INDEX message_rule ON beckon.message (project_id, rule_id, claimed_at, id);
`;

/** What became of a letter is an event of its person too. It is neither suppressed nor normal: it moves no half of the watermark. */
const EVENTS = `
ALTER TABLE beckon.event ALTER COLUMN suppressed DROP NOT NULL;
`;

/** When a rule last lost its autopilot by what its letters caused. */
const RULES = `
ALTER TABLE beckon.rule ADD COLUMN demoted_at timestamptz, ADD COLUMN demoted_why text COLLATE "C";
`;

/**
 * `tracking_link`: where the links of a letter lead, which their addresses do not say; one row a letter, in the order of
 * their numbers from 0. Its first row comes with the letter, so a letter without one is not tracked.
 *
 * `hit_count`: every hit is counted, at most a hundred of a letter are kept; its row is locked by whoever adds one.
 * `settle_at`: when the machine verdict of the oldest one that has none is given; null: all have one.
 * `hit`: `machine` is null until the verdict. `agent` and `remote` are forgotten before the rest.
 */
const HITS = `
CREATE TABLE beckon.tracking_link (
  project_id bigint NOT NULL,
  message_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  opens boolean NOT NULL,
  urls text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, message_id)
);
CREATE INDEX tracking_link_person ON beckon.tracking_link (project_id, external_user_id);

CREATE TABLE beckon.hit_count (
  project_id bigint NOT NULL,
  message_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  hits bigint NOT NULL CHECK (hits > 0),
  settle_at timestamptz,
  PRIMARY KEY (project_id, message_id)
) WITH (fillfactor = 80);
CREATE INDEX hit_count_settle_at ON beckon.hit_count (settle_at) WHERE settle_at IS NOT NULL;
CREATE INDEX hit_count_person ON beckon.hit_count (project_id, external_user_id);

CREATE TABLE beckon.hit (
  project_id bigint NOT NULL,
  message_id uuid NOT NULL,
  number integer NOT NULL CHECK (number BETWEEN 1 AND 100),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('open', 'click', 'trap')),
  link integer,
  at timestamptz NOT NULL,
  machine text COLLATE "C" CHECK (machine IN ('yes', 'probable', 'no')),
  machine_reason text COLLATE "C",
  agent text COLLATE "C",
  remote text COLLATE "C",
  signs text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, message_id, number),
  CHECK ((kind = 'click') = (link IS NOT NULL))
);
CREATE INDEX hit_agent_at ON beckon.hit (project_id, at) WHERE agent IS NOT NULL OR remote IS NOT NULL;
`;

/**
 * One outcome of a message, a type, a link and a class, for ever: `class` is the machine verdict of opens and clicks, the
 * recipient's own id of replies, 'complaint' for unsubscribes that are one, 'unverified' for bounces of which only a
 * Message-ID tells whose they are, and empty for everything else.
 */
const OUTCOMES = `
CREATE TABLE beckon.outcome (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  message_id uuid NOT NULL,
  draft_id uuid NOT NULL,
  rule_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL
    CHECK (type IN ('email.opened', 'email.clicked', 'email.replied', 'email.bounced', 'email.unsubscribed')),
  link integer NOT NULL DEFAULT -1,
  class text COLLATE "C" NOT NULL DEFAULT '',
  occurred_at timestamptz NOT NULL,
  recorded_at timestamptz NOT NULL,
  detail jsonb NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX outcome_once ON beckon.outcome (project_id, message_id, type, link, class);
CREATE INDEX outcome_bad ON beckon.outcome (project_id, message_id) WHERE type IN ('email.bounced', 'email.unsubscribed');
CREATE INDEX outcome_person ON beckon.outcome (project_id, external_user_id, recorded_at);
CREATE INDEX outcome_recorded_at ON beckon.outcome (project_id, recorded_at, id);
CREATE INDEX outcome_rule ON beckon.outcome (project_id, rule_id, type, recorded_at);
`;

/**
 * What people wrote back, and what their machines did: threads by letter. `verified`: by which sign it is theirs.
 * `forward_at`: when it is handed on to the team next; null: it was, or is not to be.
 */
const REPLIES = `
CREATE TABLE beckon.reply (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  message_id uuid NOT NULL,
  draft_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  inbound_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('reply', 'auto_reply')),
  verified text COLLATE "C" NOT NULL,
  received_at timestamptz NOT NULL,
  from_address text COLLATE "C" NOT NULL,
  from_name text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  raw bytea,
  forward_at timestamptz,
  forward_attempts integer NOT NULL DEFAULT 0,
  forwarded_at timestamptz,
  forward_trouble text COLLATE "C",
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX reply_once ON beckon.reply (project_id, message_id, inbound_id);
CREATE INDEX reply_person ON beckon.reply (project_id, external_user_id, received_at);
CREATE INDEX reply_received_at ON beckon.reply (project_id, received_at, id);
CREATE INDEX reply_forward_at ON beckon.reply (forward_at) WHERE forward_at IS NOT NULL;
`;

/**
 * `topic_refusal`: topics that an address, whoever has it, or a person wants no letters about; a suppression covers all of them.
 *
 * `suppression_lift`: of every place whose suppression was lifted the last time, and who did it. The place is a hash, by which
 * who asks about an address finds it, and whoever is erased is named by nothing.
 */
const CHOICES = `
CREATE TABLE beckon.topic_refusal (
  project_id bigint NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('address', 'person')),
  value text COLLATE "C" NOT NULL,
  topic text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, kind, value, topic)
);

CREATE TABLE beckon.suppression_lift (
  project_id bigint NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('address', 'person')),
  place bytea NOT NULL,
  reason text COLLATE "C" NOT NULL,
  suppressed_at timestamptz NOT NULL,
  suppressed_by text COLLATE "C" NOT NULL,
  lifted_at timestamptz NOT NULL,
  lifted_by text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, kind, place)
);
`;

/**
 * `webhook_health`: what deliveries change all the time, apart from what people set; whoever claims deliveries of an endpoint,
 * or records them, has its row locked. `failing_since`: the first failure since the last success. `windows`: what the
 * breaker counts, the oldest first.
 *
 * `webhook_message`: what happened, once, as the bytes that every endpoint gets. `webhook_delivery`: one for each endpoint.
 * `next_at`: when it is tried next or, while it is delivering, when whoever delivers it counts as gone. `tries`: of the
 * schedule that it is in. `webhook_attempt`: written before the request leaves; one without an end was cut off.
 */
const WEBHOOKS = `
CREATE TABLE beckon.webhook_endpoint (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  url text COLLATE "C" NOT NULL,
  types text[] COLLATE "C",
  description text COLLATE "C" NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  disabled_at timestamptz,
  disabled_reason text COLLATE "C" CHECK (disabled_reason IN ('manual', 'gone', 'failing', 'deleted')),
  per_second double precision NOT NULL CHECK (per_second > 0),
  in_flight_max integer NOT NULL CHECK (in_flight_max > 0),
  PRIMARY KEY (project_id, id),
  CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
);

CREATE TABLE beckon.webhook_secret (
  project_id bigint NOT NULL,
  endpoint_id uuid NOT NULL,
  id uuid NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  PRIMARY KEY (project_id, endpoint_id, id)
);

CREATE TABLE beckon.webhook_health (
  project_id bigint NOT NULL,
  endpoint_id uuid NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamptz NOT NULL,
  open_until timestamptz,
  windows jsonb NOT NULL DEFAULT '[]',
  failing_since timestamptz,
  failures integer NOT NULL DEFAULT 0,
  warned_at timestamptz,
  succeeded_at timestamptz,
  PRIMARY KEY (project_id, endpoint_id)
) WITH (fillfactor = 50);

CREATE TABLE beckon.webhook_message (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  outcome_id uuid,
  type text COLLATE "C" NOT NULL,
  external_user_id text COLLATE "C",
  body text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  erased_at timestamptz,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX webhook_message_person ON beckon.webhook_message (project_id, external_user_id) WHERE external_user_id IS NOT NULL;
CREATE INDEX webhook_message_created_at ON beckon.webhook_message (project_id, created_at, id);

CREATE TABLE beckon.webhook_delivery (
  project_id bigint NOT NULL,
  message_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  state text COLLATE "C" NOT NULL
    CHECK (state IN ('pending', 'delivering', 'delivered', 'exhausted', 'missed', 'cancelled')),
  tries integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  trigger text COLLATE "C" NOT NULL DEFAULT 'auto' CHECK (trigger IN ('auto', 'manual')),
  next_at timestamptz,
  created_at timestamptz NOT NULL,
  delivered_at timestamptz,
  PRIMARY KEY (project_id, message_id, endpoint_id),
  CHECK ((state IN ('pending', 'delivering')) = (next_at IS NOT NULL))
) WITH (fillfactor = 70);
CREATE INDEX webhook_delivery_next_at ON beckon.webhook_delivery (project_id, endpoint_id, state, next_at, message_id)
  WHERE next_at IS NOT NULL;

CREATE TABLE beckon.webhook_attempt (
  project_id bigint NOT NULL,
  message_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  number integer NOT NULL CHECK (number > 0),
  trigger text COLLATE "C" NOT NULL CHECK (trigger IN ('auto', 'manual')),
  url text COLLATE "C" NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  status integer,
  error text COLLATE "C",
  answer text COLLATE "C",
  PRIMARY KEY (project_id, message_id, endpoint_id, number)
) WITH (fillfactor = 80);
`;

/** A domain whose letters are refused for what they are is paused until a person looks; `tracking_host` is its own for links. */
const DOMAINS = `
ALTER TABLE beckon.sending_domain
  ADD COLUMN paused_at timestamptz,
  ADD COLUMN paused_reason text COLLATE "C",
  ADD COLUMN resumed_at timestamptz,
  ADD COLUMN tracking_host text COLLATE "C",
  ADD COLUMN tracking_state text COLLATE "C" CHECK (tracking_state IN ('pending', 'working', 'failed')),
  ADD COLUMN tracking_found text COLLATE "C",
  ADD COLUMN tracking_misses integer NOT NULL DEFAULT 0,
  ADD COLUMN tracking_since timestamptz,
  ADD COLUMN tracking_checked_at timestamptz,
  ADD COLUMN tracking_next_at timestamptz,
  ADD CHECK ((tracking_host IS NULL) = (tracking_state IS NULL)),
  ADD CHECK ((tracking_host IS NULL) = (tracking_since IS NULL)),
  ADD CHECK ((tracking_host IS NULL) = (tracking_next_at IS NULL));
CREATE INDEX sending_domain_tracking_next_at ON beckon.sending_domain (tracking_next_at) WHERE tracking_next_at IS NOT NULL;
`;

const DUES = `
ALTER TABLE beckon.tenant_due DROP CONSTRAINT tenant_due_work_check;
ALTER TABLE beckon.tenant_due ADD CONSTRAINT tenant_due_work_check CHECK (work IN ('digest', 'send', 'tell'));
INSERT INTO beckon.tenant_due (project_id, work) SELECT project_id, 'tell' FROM beckon.project;
`;
