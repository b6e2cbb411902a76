import type { DraftContent } from '../drafts/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** A draft before its first edit and as it is now. */
export type EditedDraft = {
  id: string;
  ruleId: string;
  step: number;
  version: number;
  /** The facts about the user in the email, by variable. */
  facts: Record<string, unknown>;
  before: DraftContent;
  after: DraftContent;
};

type EditedRow = Record<`${'b' | 'a'}_${'subject' | 'preheader' | 'body'}`, string> & {
  id: string;
  rule_id: string;
  step: number;
  version: number;
  facts: Record<string, unknown>;
  format: DraftContent['format'];
};

/**
 * Lists the last drafts of a rule that members decided about or that were sent, newest first. Returns their number, and the edited ones
 * with the text before their first edit. Reads tables of the drafts module.
 */
export async function listEdited(
  tx: Tx,
  { projectId, ruleId, limit }: { projectId: number; ruleId: string; limit: number },
): Promise<{ drafts: number; edited: EditedDraft[] }> {
  const rows = await tx.query<EditedRow & { is_edited: boolean }>(
    `SELECT d.id, d.rule_id, d.step, d.version, d.facts, d.format, d.is_edited, d.subject AS a_subject, d.preheader AS a_preheader, d.body AS a_body,
       c.subject AS b_subject, c.preheader AS b_preheader, c.body AS b_body
     FROM (
       SELECT * FROM beckon.draft d WHERE d.project_id = $1 AND d.rule_id = $2
         AND (d.is_edited OR (d.ended_at IS NOT NULL AND d.state IN ('sent', 'unknown', 'skipped')))
       ORDER BY d.created_at DESC, d.id DESC LIMIT $3
     ) d
     LEFT JOIN LATERAL (
       SELECT m.detail ->> 'from_hash' AS hash FROM beckon.draft_move m
       WHERE d.is_edited AND m.project_id = d.project_id AND m.draft_id = d.id AND m.action = 'edit'
       ORDER BY m.number LIMIT 1
     ) m ON true
     LEFT JOIN beckon.draft_content c
       ON c.project_id = d.project_id AND c.draft_id = d.id AND c.content_hash = m.hash
     ORDER BY d.created_at DESC, d.id DESC`,
    [projectId, ruleId, limit],
  );
  const edited = rows.filter((row) => row.is_edited && row.b_body !== null);
  return { drafts: rows.length, edited: edited.map(toEdited) };
}

function toEdited(row: EditedRow): EditedDraft {
  const { id, rule_id: ruleId, step, version, facts, format } = row;
  const before = { subject: row.b_subject, preheader: row.b_preheader, body: row.b_body, format };
  const after = { subject: row.a_subject, preheader: row.a_preheader, body: row.a_body, format };
  return { id, ruleId, step, version, facts, before, after };
}
