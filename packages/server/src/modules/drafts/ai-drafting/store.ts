import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { AiDraftingLease, AiDraftingResult, Wording } from './attempts.ts';

/** Rows of `draft_wording`. */
export type Wanted = { projectId: number; id: string; userId: string };

/** Requests AI drafting, in the transaction that writes these drafts. */
export async function wantWording(tx: Tx, wanted: Wanted[], now: number): Promise<void> {
  if (wanted.length === 0) return;
  await tx.prepared({
    name: 'wording.want',
    text: `INSERT INTO beckon.draft_wording (project_id, draft_id, external_user_id, next_at, attempts, findings)
           SELECT project_id, draft_id, user_id, $4, 0, '[]'
           FROM unnest($1::bigint[], $2::uuid[], $3::text[]) AS w(project_id, draft_id, user_id)`,
    values: [
      plainList(wanted.map(({ projectId }) => projectId)),
      plainList(wanted.map(({ id }) => id)),
      wanted.map(({ userId }) => userId),
      new Date(now),
    ],
  });
}

/** Claims the draft that has waited longest, in any project. No other worker gets it before `until`. */
export async function claimWording(
  tx: Tx,
  { now, until }: { now: number; until: number },
): Promise<AiDraftingLease | null> {
  const rows = await tx.prepared<{ project_id: number; draft_id: string; attempts: number }>({
    name: 'wording.claim',
    text: `WITH due AS MATERIALIZED (
             SELECT project_id, draft_id FROM beckon.draft_wording WHERE next_at <= $1
             ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED
           )
           UPDATE beckon.draft_wording w SET next_at = $2, attempts = w.attempts + 1 FROM due d
           WHERE w.project_id = d.project_id AND w.draft_id = d.draft_id RETURNING w.project_id, w.draft_id, w.attempts`,
    values: [new Date(now), new Date(until)],
  });
  const [row] = rows;
  return row ? { projectId: row.project_id, draftId: row.draft_id, attempt: row.attempts } : null;
}

/** Schedules another attempt. It changes nothing if another worker has claimed the draft since, or if it was deleted. */
export async function wordLater(tx: Tx, claim: AiDraftingLease, at: number): Promise<void> {
  await tx.query(
    `UPDATE beckon.draft_wording SET next_at = $4
     WHERE project_id = $1 AND draft_id = $2 AND attempts = $3 AND verdict IS NULL`,
    [claim.projectId, claim.draftId, claim.attempt, new Date(at)],
  );
}

export type Settled = { verdict: AiDraftingResult } & Omit<Wording, 'verdict'>;

/** Records the final result. Returns false if another worker holds the claim now: then the result must not be used. */
export async function settleWording(tx: Tx, claim: AiDraftingLease, settled: Settled): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.draft_wording SET next_at = NULL, verdict = $4, findings = $5, model = $6, prompt_hash = $7
     WHERE project_id = $1 AND draft_id = $2 AND attempts = $3 AND verdict IS NULL RETURNING 1`,
    [
      claim.projectId,
      claim.draftId,
      claim.attempt,
      settled.verdict,
      JSON.stringify(settled.findings),
      settled.model,
      settled.promptHash,
    ],
  );
  return rows.length > 0;
}

export async function findWording(
  tx: Tx,
  { projectId, draftId }: Pick<AiDraftingLease, 'projectId' | 'draftId'>,
): Promise<Wording | null> {
  const rows = await tx.query<{
    verdict: AiDraftingResult | null;
    findings: string[];
    model: string | null;
    prompt_hash: string | null;
  }>(
    `SELECT verdict, findings, model, prompt_hash FROM beckon.draft_wording WHERE project_id = $1 AND draft_id = $2`,
    [projectId, draftId],
  );
  const [row] = rows;
  return row
    ? { verdict: row.verdict, findings: row.findings, model: row.model, promptHash: row.prompt_hash }
    : null;
}

/** Erases after the drafts, because a worker that words a draft locks the draft first. */
export async function eraseWording(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<void> {
  await tx.query(`DELETE FROM beckon.draft_wording WHERE project_id = $1 AND external_user_id = $2`, [
    projectId,
    userId,
  ]);
}
