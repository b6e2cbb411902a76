import { type Kysely, sql } from 'kysely';

/** For those who look at drafts: the order in which they wait for a person, and the texts that they had. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [REVIEW, CONTENT]) await sql.raw(part).execute(db);
}

/**
 * What waits for a person, as Review has it: by deadline, those without one behind, then what is held, then what was put off.
 * `review.ts` says the same condition and the same two expressions.
 */
const REVIEW = `
CREATE INDEX draft_review ON beckon.draft (
  project_id,
  (CASE WHEN state = 'scheduled' OR reason = 'editing' THEN 0 WHEN reason = 'snoozed' THEN 2 ELSE 1 END),
  (coalesce(deadline_at, 'infinity'::timestamptz)),
  id
) WHERE ended_at IS NULL AND state IN ('composing', 'scheduled', 'held')
  AND (resume_state IS DISTINCT FROM 'approved' OR reason IN ('replied', 'needs_review'));
`;

/** The texts before and after each time that a person wrote one anew; a move says by its hash which it left. */
const CONTENT = `
CREATE TABLE beckon.draft_content (
  project_id bigint NOT NULL,
  draft_id uuid NOT NULL,
  content_hash text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  preheader text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (project_id, draft_id, content_hash)
);
`;
