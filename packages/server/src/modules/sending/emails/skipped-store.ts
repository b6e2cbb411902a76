import type { Tx } from '../../../platform/db/statements.ts';

/**
 * Ends a deferred email when its draft is skipped. Otherwise it would take a slot of the caps, and its bytes would be kept forever. If the
 * skip is undone within ten seconds, the email waits as before, and the reason of its deferral is still known.
 */
export async function endSkipped(
  tx: Tx,
  { projectId, draftId, at }: { projectId: number; draftId: string; at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.email SET state = 'failed', reason = 'skipped', next_at = NULL, ended_at = $3
     WHERE project_id = $1 AND draft_id = $2 AND state = 'deferred'`,
    [projectId, draftId, new Date(at)],
  );
}

/** Undoes what the skip ended. Any other end of the email would have ended the draft too. */
export async function takeBackSkipped(
  tx: Tx,
  { projectId, draftId }: { projectId: number; draftId: string },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.email SET state = 'deferred', reason = CASE WHEN attempts > 0 THEN 'deferred' END, ended_at = NULL
     WHERE project_id = $1 AND draft_id = $2 AND state = 'failed'`,
    [projectId, draftId],
  );
}
