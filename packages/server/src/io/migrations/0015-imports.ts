import { type Kysely, sql } from 'kysely';

/** What is brought in from elsewhere: the import itself, its file until it has ended, and what is to be said of single rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [IMPORT, PART, FINDING, ERASED, BILLING]) await sql.raw(part).execute(db);
}

/**
 * `place`: behind which everything is still to come. `epoch`: whose commits count, where two processes believe that it is theirs.
 * `queued_at`: one import of a project is at work at a time, the one that was asked for first.
 */
const IMPORT = `
CREATE TABLE beckon.import (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('users', 'events', 'stripe')),
  name text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('uploading', 'ready', 'checking', 'checked', 'running', 'paused', 'done', 'failed', 'cancelled')),
  problem text COLLATE "C",
  size_bytes bigint,
  file_modified_at bigint,
  mapping json,
  options json,
  sealed_key bytea,
  is_live boolean NOT NULL,
  check_report json,
  place json,
  counts json NOT NULL,
  facts json NOT NULL,
  findings bigint NOT NULL,
  pace real,
  pace_rows bigint NOT NULL,
  pace_at timestamptz,
  waits_for text COLLATE "C",
  epoch integer NOT NULL,
  lease_until timestamptz,
  queued_at timestamptz,
  created_at timestamptz NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  changed_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  PRIMARY KEY (project_id, id)
) WITH (fillfactor=70);
CREATE INDEX import_at_work ON beckon.import (project_id, queued_at, id) WHERE state IN ('checking', 'running');
`;

/** A file in parts of one size, each packed by zstd. */
const PART = `
CREATE TABLE beckon.import_part (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  part integer NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (project_id, import_id, part),
  FOREIGN KEY (project_id, import_id) REFERENCES beckon.import (project_id, id) ON DELETE CASCADE
);
`;

/** Rows that came to nothing, and what a source has to say of single things. */
const FINDING = `
CREATE TABLE beckon.import_finding (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  n bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  line bigint,
  field text COLLATE "C",
  message text COLLATE "C" NOT NULL,
  raw text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, import_id, n),
  FOREIGN KEY (project_id, import_id) REFERENCES beckon.import (project_id, id) ON DELETE CASCADE
);
`;

/** Who was erased while the import had not ended, as a hash with the import's id in it: their records are left out. */
const ERASED = `
CREATE TABLE beckon.import_erased (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  person_hash bytea NOT NULL,
  PRIMARY KEY (project_id, import_id, person_hash),
  FOREIGN KEY (project_id, import_id) REFERENCES beckon.import (project_id, id) ON DELETE CASCADE
);
`;

/**
 * What Stripe knew when it was asked, until the import has ended: read once, so that the check and the run see the same, and the key
 * is not needed for both. `step` and `after_*`: how far it was read. `address` in the form in which two are the same mailbox;
 * `matched_by` is null until it is decided whose customer it is.
 */
const BILLING = `
CREATE TABLE beckon.billing_snapshot (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  step text COLLATE "C" NOT NULL,
  after_id text COLLATE "C",
  after_created bigint,
  objects bigint NOT NULL,
  PRIMARY KEY (project_id, import_id),
  FOREIGN KEY (project_id, import_id) REFERENCES beckon.import (project_id, id) ON DELETE CASCADE
);
CREATE TABLE beckon.billing_customer (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  customer_id text COLLATE "C" NOT NULL,
  created bigint,
  address text COLLATE "C",
  named text COLLATE "C",
  facts json NOT NULL,
  matched_by text COLLATE "C",
  user_id text COLLATE "C",
  why text COLLATE "C",
  is_known boolean NOT NULL,
  has_address boolean NOT NULL,
  PRIMARY KEY (project_id, import_id, customer_id),
  FOREIGN KEY (project_id, import_id) REFERENCES beckon.import (project_id, id) ON DELETE CASCADE
);
CREATE INDEX billing_customer_open ON beckon.billing_customer (project_id, import_id, customer_id) WHERE matched_by IS NULL;
CREATE INDEX billing_customer_address ON beckon.billing_customer (project_id, import_id, address, named) WHERE address IS NOT NULL AND named IS NOT NULL;
CREATE INDEX billing_customer_user ON beckon.billing_customer (project_id, import_id, user_id, created) WHERE user_id IS NOT NULL;
CREATE TABLE beckon.billing_object (
  project_id bigint NOT NULL,
  import_id uuid NOT NULL,
  customer_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('product', 'price', 'subscription', 'invoice')),
  object_id text COLLATE "C" NOT NULL,
  facts json NOT NULL,
  PRIMARY KEY (project_id, import_id, customer_id, kind, object_id),
  FOREIGN KEY (project_id, import_id) REFERENCES beckon.import (project_id, id) ON DELETE CASCADE
);
`;
