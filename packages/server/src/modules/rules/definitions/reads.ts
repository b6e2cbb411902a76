import type { Tx } from '../../../platform/db/statements.ts';
import type { RuleVersionRow, VersionAuthorship } from './store.ts';

/** Returns the versions of one rule, newest first. */
export function listVersionsOfRule(
  tx: Tx,
  { projectId, ruleId, limit }: { projectId: number; ruleId: string; limit: number },
): Promise<(RuleVersionRow & VersionAuthorship)[]> {
  return tx.query(
    `SELECT project_id, rule_id, version, definition, created_at, created_by FROM beckon.rule_version
     WHERE project_id = $1 AND rule_id = $2 ORDER BY version DESC LIMIT $3`,
    [projectId, ruleId, limit],
  );
}

/** Returns the versions that have timers, with or without active runs. Call it rarely: it reads every timer. */
export async function listVersionsAwaited(
  tx: Tx,
  projectId: number,
): Promise<{ projectId: number; ruleId: string; version: number }[]> {
  const rows = await tx.query<{ rule_id: string; version: number }>(
    `SELECT DISTINCT rule_id, version FROM beckon.rule_timer WHERE project_id = $1 ORDER BY rule_id, version`,
    [projectId],
  );
  return rows.map(({ rule_id: ruleId, version }) => ({ projectId, ruleId, version }));
}
