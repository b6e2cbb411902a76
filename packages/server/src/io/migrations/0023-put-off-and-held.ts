import { type Kysely, sql } from 'kysely';

/**
 * Letters that were put off and then held for a person went on to say that they were put off, so that nobody could do anything about
 * them and nothing looked at them again. They say now what they are held for; others without a moment are looked at.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(HELD).execute(db);
}

const FOR_A_PERSON = `('replied', 'needs_review', 'restored')`;

const HELD = `
UPDATE beckon.draft d SET
  reason = CASE WHEN h.reason IN ${FOR_A_PERSON} THEN h.reason ELSE d.reason END,
  due_at = CASE WHEN h.reason IN ${FOR_A_PERSON} THEN NULL ELSE now() END
FROM (
  SELECT o.project_id, o.id, (
    SELECT m.reason FROM beckon.draft_move m
    WHERE m.project_id = o.project_id AND m.draft_id = o.id AND m.action = 'hold' ORDER BY m.number DESC LIMIT 1
  ) AS reason
  FROM beckon.draft o WHERE o.ended_at IS NULL AND o.state = 'held' AND o.reason = 'deferred' AND o.due_at IS NULL
) h
WHERE d.project_id = h.project_id AND d.id = h.id
`;
