import { type Kysely, sql } from 'kysely';

/** Writing and sending: letters with versions, sending domains and their keys, what is handed over and how, the outbox. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(TEMPLATES).execute(db);
  await sql.raw(DOMAINS).execute(db);
  await sql.raw(MESSAGES).execute(db);
  await sql.raw(OUTBOX).execute(db);
}

/**
 * A letter by its name, in immutable versions. Of one written in MJML `html` is what it compiled to, with its variables
 * still in it, so that nothing is compiled when it is written to a person.
 */
const TEMPLATES = `
CREATE TABLE beckon.template (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, id),
  UNIQUE (project_id, name)
);

CREATE TABLE beckon.template_version (
  project_id bigint NOT NULL,
  template_id uuid NOT NULL,
  version integer NOT NULL,
  format text COLLATE "C" NOT NULL CHECK (format IN ('markdown', 'mjml')),
  subject text COLLATE "C" NOT NULL,
  preheader text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  html text COLLATE "C",
  created_at timestamptz NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, template_id, version),
  CHECK ((format = 'mjml') = (html IS NOT NULL))
);

ALTER TABLE beckon.draft ADD COLUMN format text COLLATE "C" NOT NULL DEFAULT 'markdown' CHECK (format IN ('markdown', 'html'));
ALTER TABLE beckon.draft ALTER COLUMN format DROP DEFAULT;
`;

/**
 * `findings`: what the last look at the DNS found of each record. `misses` counts looks in a row that found something
 * wrong since `failing_since`; time-outs and server failures are none. `private_key` is sealed with the installation's secret.
 */
const DOMAINS = `
CREATE TABLE beckon.sending_domain (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'verified', 'degraded', 'failed')),
  findings jsonb NOT NULL,
  misses integer NOT NULL,
  failing_since timestamptz,
  created_at timestamptz NOT NULL,
  state_at timestamptz NOT NULL,
  verified_at timestamptz,
  checked_at timestamptz,
  next_check_at timestamptz,
  throttle text COLLATE "C" NOT NULL,
  warm boolean NOT NULL,
  ramp_from timestamptz,
  PRIMARY KEY (project_id, id),
  UNIQUE (project_id, name)
);
CREATE INDEX sending_domain_next_check_at ON beckon.sending_domain (next_check_at) WHERE next_check_at IS NOT NULL;

CREATE TABLE beckon.dkim_key (
  project_id bigint NOT NULL,
  domain_id uuid NOT NULL,
  slot text COLLATE "C" NOT NULL CHECK (slot IN ('a', 'b')),
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'published', 'active', 'retiring')),
  public_key text COLLATE "C" NOT NULL,
  private_key bytea NOT NULL,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, domain_id, slot)
);
`;

/**
 * `epoch` is raised by whoever claims, and whoever reports or submits names the one that he claimed with. `next_at`: when a
 * claim or a submission without an answer counts as given up. `mime` is the letter, frozen before its first attempt.
 * `send_bucket`: tokens of a sending domain, and of a mailbox provider that asked for less.
 */
const MESSAGES = `
ALTER TABLE beckon.message ADD COLUMN epoch integer NOT NULL DEFAULT 1;
ALTER TABLE beckon.message ADD COLUMN attempts integer NOT NULL DEFAULT 0;
ALTER TABLE beckon.message ADD COLUMN next_at timestamptz;
ALTER TABLE beckon.message ADD COLUMN first_at timestamptz;
ALTER TABLE beckon.message ADD COLUMN domain text COLLATE "C";
ALTER TABLE beckon.message ADD COLUMN provider text COLLATE "C";
ALTER TABLE beckon.message ADD COLUMN reply text COLLATE "C";
ALTER TABLE beckon.message ADD COLUMN relay_id text COLLATE "C";
UPDATE beckon.message SET next_at = claimed_at WHERE state IN ('claimed', 'submitting');
ALTER TABLE beckon.message ADD CHECK ((state IN ('claimed', 'submitting')) = (next_at IS NOT NULL));
DROP INDEX beckon.message_unfinished;
CREATE INDEX message_unfinished ON beckon.message (next_at) WHERE next_at IS NOT NULL;
CREATE UNIQUE INDEX message_id ON beckon.message (project_id, id);
CREATE INDEX message_domain ON beckon.message (project_id, domain, claimed_at) WHERE domain IS NOT NULL;

CREATE TABLE beckon.message_mime (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  mail_from text COLLATE "C" NOT NULL,
  rcpt_to text COLLATE "C" NOT NULL,
  mime bytea NOT NULL,
  frozen_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, draft_id)
);
CREATE INDEX message_mime_frozen_at ON beckon.message_mime (project_id, frozen_at);

CREATE TABLE beckon.send_bucket (
  project_id bigint NOT NULL,
  domain text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  per_second double precision NOT NULL CHECK (per_second > 0),
  tokens double precision NOT NULL,
  refilled_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, domain, provider)
) WITH (fillfactor = 50);
`;

/**
 * What the server mailed to itself where no relay is set: the far end of every letter, to be looked at. `copy` counts from
 * 1 what arrived of one letter: there must never be a second, and if there is one, it is to be seen. `raw` is packed, `size` that of the
 * letter as it came.
 */
const OUTBOX = `
CREATE TABLE beckon.outbox_message (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  copy integer NOT NULL CHECK (copy > 0),
  draft_id uuid,
  mail_from text COLLATE "C" NOT NULL,
  rcpt_to text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  external_user_id text COLLATE "C",
  raw bytea NOT NULL,
  size integer NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project_id, id, copy)
);
CREATE INDEX outbox_message_at ON beckon.outbox_message (project_id, at, id, copy);
CREATE INDEX outbox_message_person ON beckon.outbox_message (project_id, external_user_id) WHERE external_user_id IS NOT NULL;
CREATE INDEX outbox_message_draft ON beckon.outbox_message (project_id, draft_id) WHERE draft_id IS NOT NULL;
`;
