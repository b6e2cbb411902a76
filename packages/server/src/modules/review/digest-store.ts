import type { Tx } from '../../platform/db/statements.ts';

/** Claims the notification of the team. Returns false if the last one was after `before`. */
export async function upsertTeamDigest(
  tx: Tx,
  { projectId, now, before }: { projectId: number; now: number; before: number },
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO beckon.team_digest AS d (project_id, sent_at) VALUES ($1, $2)
     ON CONFLICT (project_id) DO UPDATE SET sent_at = excluded.sent_at WHERE d.sent_at <= $3 RETURNING 1`,
    [projectId, new Date(now), new Date(before)],
  );
  return rows.length > 0;
}

/** Records that the team is informed of everything up to `until`. */
export async function setTeamReportedUntil(tx: Tx, projectId: number, until: number): Promise<void> {
  await tx.query(
    `UPDATE beckon.team_digest SET reported_until = $2 WHERE project_id = $1 AND (reported_until IS NULL OR reported_until < $2)`,
    [projectId, new Date(until)],
  );
}
