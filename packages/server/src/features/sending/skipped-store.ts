import type { Tx } from '../../io/db/index.ts';

/**
 * A letter that was put off is not tried any more once its draft is skipped: it would take a slot of the caps, and its bytes would be
 * kept for good. Taken back within its ten seconds it waits as before, and why it was put off is still known.
 */
export async function endSkipped(
  tx: Tx,
  { projectId, draftId, at }: { projectId: number; draftId: string; at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.message SET state = 'failed', reason = 'skipped', next_at = NULL, ended_at = $3
     WHERE project_id = $1 AND draft_id = $2 AND state = 'deferred'`,
    [projectId, draftId, new Date(at)],
  );
}

/** What the skip has ended: any other end would have been that of the draft too. */
export async function takeBackSkipped(
  tx: Tx,
  { projectId, draftId }: { projectId: number; draftId: string },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.message SET state = 'deferred', reason = CASE WHEN attempts > 0 THEN 'deferred' END, ended_at = NULL
     WHERE project_id = $1 AND draft_id = $2 AND state = 'failed'`,
    [projectId, draftId],
  );
}
