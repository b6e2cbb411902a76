import { type Kysely, sql } from 'kysely';

/**
 * Review has what was approved and may have left before a restore. The new index is made beside the old one, so that pages are read
 * meanwhile; for the release before it does as well.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of REVIEW) await sql.raw(part).execute(db);
}

const REVIEW = [
  `CREATE INDEX draft_review_anew ON beckon.draft (
    project_id,
    (CASE WHEN state = 'scheduled' OR reason = 'editing' THEN 0 WHEN reason = 'snoozed' THEN 2 ELSE 1 END),
    (coalesce(deadline_at, 'infinity'::timestamptz)),
    id
  ) WHERE ended_at IS NULL AND state IN ('composing', 'scheduled', 'held')
    AND (resume_state IS DISTINCT FROM 'approved' OR reason IN ('needs_review', 'replied', 'restored'))`,
  'DROP INDEX beckon.draft_review',
  'ALTER INDEX beckon.draft_review_anew RENAME TO draft_review',
];
