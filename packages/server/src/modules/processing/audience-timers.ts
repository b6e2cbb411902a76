import type { Tx } from '../../platform/db/statements.ts';

export type AudienceTimer = { userId: string; versionId: number; at: Date };

/** Lists the timers that are due, the longest overdue first. This includes timers of retired versions, which are only removed. */
export async function listDueAudienceTimers(
  tx: Tx,
  query: { projectId: number; now: Date; limit: number },
): Promise<AudienceTimer[]> {
  const rows = await listTimerRows(tx, query);
  return rows.map(({ external_user_id, version_id: versionId, at }) => ({
    userId: external_user_id,
    versionId,
    at,
  }));
}

type AudienceTimerRow = { external_user_id: string; version_id: number; at: Date };

/** Reads a table of the audiences module. */
function listTimerRows(
  tx: Tx,
  { projectId, now, limit }: { projectId: number; now: Date; limit: number },
): Promise<AudienceTimerRow[]> {
  return tx.prepared({
    name: 'audiences.due_now',
    text: `SELECT external_user_id, version_id, at FROM beckon.audience_timer WHERE project_id = $1 AND at <= $2
           ORDER BY at LIMIT $3`,
    values: [projectId, now, limit],
  });
}
