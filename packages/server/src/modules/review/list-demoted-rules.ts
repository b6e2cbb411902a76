import type { Tx } from '../../platform/db/statements.ts';

export type DemotedRule = { id: string; name: string; why: string };

/** Returns the rules that lost autopilot after `since` and no later than `until`, and have not regained it. */
export function listDemoted(
  tx: Tx,
  { projectId, since, until }: { projectId: number; since: number; until: number },
): Promise<DemotedRule[]> {
  return tx.query(
    `SELECT id, name, demoted_why AS why FROM beckon.rule
     WHERE project_id = $1 AND demoted_at > $2 AND demoted_at <= $3 AND mode = 'draft' ORDER BY name`,
    [projectId, new Date(since), new Date(until)],
  );
}
