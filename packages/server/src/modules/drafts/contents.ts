import type { Tx } from '../../platform/db/statements.ts';
import type { Actor, DraftContent } from './draft.ts';

/** A text of a draft and who wrote it first. Times are in milliseconds. */
export type StoredDraftContent = { contentHash: string; at: number; actor: Actor; content: DraftContent };

type Row = {
  content_hash: string;
  at: Date;
  actor: string;
  subject: string;
  preheader: string;
  body: string;
  format: DraftContent['format'];
};

/** Lists the texts of a draft that were stored when it was edited, newest first. */
export async function listContents(
  tx: Tx,
  projectId: number,
  draftId: string,
): Promise<StoredDraftContent[]> {
  const rows = await tx.query<Row>(
    `SELECT c.content_hash, m.at, m.actor, c.subject, c.preheader, c.body, d.format
     FROM beckon.draft_content c
     JOIN beckon.draft d ON d.project_id = c.project_id AND d.id = c.draft_id
     CROSS JOIN LATERAL (
       SELECT m.at, m.actor, m.number FROM beckon.draft_move m
       WHERE m.project_id = c.project_id AND m.draft_id = c.draft_id AND m.content_hash = c.content_hash
       ORDER BY (m.action = 'edit') DESC, CASE WHEN m.action = 'edit' THEN -m.number ELSE m.number END LIMIT 1
     ) m
     WHERE c.project_id = $1 AND c.draft_id = $2 ORDER BY m.number DESC`,
    [projectId, draftId],
  );
  return rows.map(({ content_hash: contentHash, at, actor, subject, preheader, body, format }) => ({
    contentHash,
    at: at.getTime(),
    actor,
    content: { subject, preheader, body, format },
  }));
}
