import { type Kysely, sql } from 'kysely';

/** What people who write rules and letters in the dashboard leave behind. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [VERSIONS, DRAFTS, WORDS]) await sql.raw(part).execute(db);
}

/** Null: made before it was written down who did it, or with the project. */
const VERSIONS = `
ALTER TABLE beckon.rule_version ADD COLUMN created_by text COLLATE "C";
`;

/** Words of a letter that are saved and not published; by the name, which a letter that ships has too. */
const DRAFTS = `
CREATE TABLE beckon.template_draft (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  format text COLLATE "C" NOT NULL CHECK (format IN ('markdown', 'mjml')),
  subject text COLLATE "C" NOT NULL,
  preheader text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  saved_at timestamptz NOT NULL,
  saved_by text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, name)
);
`;

/**
 * Words that somebody is writing, kept for a day so that their frame can show them; the id is the hash of them. They are words
 * of a letter before it is filled in: nothing of a person stands in them.
 */
const WORDS = `
CREATE TABLE beckon.template_words (
  project_id bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  letter jsonb NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX template_words_at ON beckon.template_words (project_id, at);
`;
