import type { Tx } from '../../io/db/index.ts';

export type DemotedRule = { id: string; name: string; why: string };

/** Those that lost their autopilot behind `since`, `until` at the latest, and have not got it back. */
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
