/** Rows of `ai_drafting`. */

import { plainList } from '../../../platform/db/list.ts';
import { claimOfAny } from '../../../platform/db/distributed.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { DueQueries } from '../../../platform/jobs/work-watch.ts';
import type { AiDraftingLease, AiDraftingResult, AiDraftingRecord } from './attempts.ts';

export type AiDraftingRequest = { projectId: number; id: string; userId: string };

/** Requests AI drafting, in the transaction that writes these drafts. */
export async function requestAiDrafting(tx: Tx, requests: AiDraftingRequest[], now: number): Promise<void> {
  if (requests.length === 0) return;
  await tx.prepared({
    name: 'ai_drafting.request',
    text: `INSERT INTO beckon.ai_drafting (project_id, draft_id, external_user_id, next_at, attempts, findings)
           SELECT project_id, draft_id, user_id, $4, 0, '[]'
           FROM unnest($1::bigint[], $2::uuid[], $3::text[]) AS w(project_id, draft_id, user_id)`,
    values: [
      plainList(requests.map(({ projectId }) => projectId)),
      plainList(requests.map(({ id }) => id)),
      requests.map(({ userId }) => userId),
      new Date(now),
    ],
  });
}

/** For the watch of work: when the next draft is due. The condition is that of the partial index. */
export const AI_DRAFTS_DUE: DueQueries = {
  nextAt: 'SELECT min(next_at) FROM beckon.ai_drafting WHERE next_at IS NOT NULL',
};

/** Claims the draft that has waited longest, in any project. No other worker gets it before `until`. */
export async function claimAiDrafting(
  tx: Tx,
  { now, until }: { now: number; until: number },
): Promise<AiDraftingLease | null> {
  const rows = await claimOfAny<{ project_id: number; draft_id: string; attempts: number }>(tx, {
    due: {
      text: 'SELECT project_id FROM beckon.ai_drafting WHERE next_at <= $1 ORDER BY next_at',
      values: [new Date(now)],
    },
    name: 'ai_drafting.claim',
    text: (of) => `WITH due AS MATERIALIZED (
             SELECT project_id, draft_id FROM beckon.ai_drafting WHERE ${of('ai_drafting')}next_at <= $1
             ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED
           )
           UPDATE beckon.ai_drafting w SET next_at = $2, attempts = w.attempts + 1 FROM due d
           WHERE ${of('w')}w.project_id = d.project_id AND w.draft_id = d.draft_id RETURNING w.project_id, w.draft_id, w.attempts`,
    values: [new Date(now), new Date(until)],
  });
  const [row] = rows;
  return row ? { projectId: row.project_id, draftId: row.draft_id, attempt: row.attempts } : null;
}

/** Schedules another attempt. It changes nothing if another worker has claimed the draft since, or if it was deleted. */
export async function retryAiDrafting(tx: Tx, claim: AiDraftingLease, at: number): Promise<void> {
  await tx.query(
    `UPDATE beckon.ai_drafting SET next_at = $4
     WHERE project_id = $1 AND draft_id = $2 AND attempts = $3 AND result IS NULL`,
    [claim.projectId, claim.draftId, claim.attempt, new Date(at)],
  );
}

export type AiDraftingOutcome = { result: AiDraftingResult } & Omit<AiDraftingRecord, 'result'>;

/** Records the final result. Returns false if another worker holds the claim now: then the result must not be used. */
export async function finishAiDrafting(
  tx: Tx,
  claim: AiDraftingLease,
  outcome: AiDraftingOutcome,
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.ai_drafting SET next_at = NULL, result = $4, findings = $5, model = $6, prompt_hash = $7
     WHERE project_id = $1 AND draft_id = $2 AND attempts = $3 AND result IS NULL RETURNING 1`,
    [
      claim.projectId,
      claim.draftId,
      claim.attempt,
      outcome.result,
      JSON.stringify(outcome.findings),
      outcome.model,
      outcome.promptHash,
    ],
  );
  return rows.length > 0;
}

export async function findAiDrafting(
  tx: Tx,
  { projectId, draftId }: Pick<AiDraftingLease, 'projectId' | 'draftId'>,
): Promise<AiDraftingRecord | null> {
  const rows = await tx.query<{
    result: AiDraftingResult | null;
    findings: string[];
    model: string | null;
    prompt_hash: string | null;
  }>(
    `SELECT result, findings, model, prompt_hash FROM beckon.ai_drafting WHERE project_id = $1 AND draft_id = $2`,
    [projectId, draftId],
  );
  const [row] = rows;
  return row
    ? { result: row.result, findings: row.findings, model: row.model, promptHash: row.prompt_hash }
    : null;
}

/** Erases after the drafts, because a worker that rewrites a draft locks the draft first. */
export async function eraseAiDrafting(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<void> {
  await tx.query(`DELETE FROM beckon.ai_drafting WHERE project_id = $1 AND external_user_id = $2`, [
    projectId,
    userId,
  ]);
}
