import type { Tx } from '../../platform/db/statements.ts';

/**
 * Returns whether a project has more than one member or an open invitation. Reads tables of other modules, `team_member` and `team_link`.
 */
export async function hasTeammates(tx: Tx, projectId: number, now: number): Promise<boolean> {
  const rows = await tx.query<{ more: boolean }>(
    `SELECT (SELECT count(*) FROM (SELECT FROM beckon.team_member m
               WHERE m.organization_id = p.organization_id LIMIT 2) m) > 1
            OR EXISTS (SELECT FROM beckon.team_link l
               WHERE l.organization_id = p.organization_id AND l.kind = 'invite' AND l.used_at IS NULL AND l.expires_at > $2) AS more
     FROM beckon.project p WHERE p.project_id = $1`,
    [projectId, new Date(now)],
  );
  return rows[0]?.more ?? false;
}
