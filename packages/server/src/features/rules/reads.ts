import type { Tx } from '../../io/db/index.ts';
import type { VersionRow, Written } from './store.ts';

/** Of one rule, the newest first. */
export function listVersionsOfRule(
  tx: Tx,
  { projectId, ruleId, limit }: { projectId: number; ruleId: string; limit: number },
): Promise<(VersionRow & Written)[]> {
  return tx.query(
    `SELECT project_id, rule_id, version, definition, created_at, created_by FROM beckon.rule_version
     WHERE project_id = $1 AND rule_id = $2 ORDER BY version DESC LIMIT $3`,
    [projectId, ruleId, limit],
  );
}
