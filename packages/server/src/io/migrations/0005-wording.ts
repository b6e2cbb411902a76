import { type Kysely, sql } from 'kysely';

/** Letters that a model may word: which drafts still wait for it, and what became of the others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(WORDING).execute(db);
}

/**
 * `next_at`: when it is asked, or, once somebody has claimed it, when they count as gone; null as soon as there is a verdict.
 * `attempts` is raised by whoever claims, and whoever reports names the one that he claimed with.
 */
const WORDING = `
CREATE TABLE beckon.draft_wording (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  external_user_id text COLLATE "C" NOT NULL,
  next_at timestamptz,
  attempts integer NOT NULL,
  verdict text COLLATE "C" CHECK (verdict IN ('worded', 'refused', 'declined', 'failed', 'too_late', 'touched', 'unfit', 'off')),
  findings jsonb NOT NULL,
  model text COLLATE "C",
  prompt_hash text COLLATE "C",
  PRIMARY KEY (project_id, draft_id),
  CHECK ((next_at IS NULL) = (verdict IS NOT NULL))
);
CREATE INDEX draft_wording_next_at ON beckon.draft_wording (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX draft_wording_person ON beckon.draft_wording (project_id, external_user_id);
`;
