import type { Tx } from '../../../platform/db/statements.ts';
import type { LedgerRow } from './decision.ts';

type Row = {
  rule_id: string;
  key: string;
  reason: string;
  count: number;
  first_at: Date;
  last_at: Date;
  detail: Record<string, unknown>;
};

/** Lists the decisions about a user, by all rules or by one, latest first. */
export async function listDecisionsOf(
  tx: Tx,
  wanted: { projectId: number; userId: string; ruleId?: string; limit: number },
): Promise<LedgerRow[]> {
  const { projectId, userId, ruleId = null, limit } = wanted;
  const rows = await tx.query<Row>(
    `SELECT rule_id, key, reason, count, first_at, last_at, detail FROM beckon.decision
     WHERE project_id = $1 AND external_user_id = $2 AND ($3::uuid IS NULL OR rule_id = $3)
     ORDER BY last_at DESC, rule_id, key, reason LIMIT $4`,
    [projectId, userId, ruleId, limit],
  );
  return rows.map((row) => ({
    projectId,
    userId,
    ruleId: row.rule_id,
    key: row.key,
    reason: row.reason,
    detail: row.detail,
    at: row.last_at.getTime(),
    count: row.count,
    firstAt: row.first_at.getTime(),
  }));
}

/** Counts, per reason, the pairs of user and enrollment key that a rule last decided that way since a given time. */
export async function countReasons(
  tx: Tx,
  { projectId, ruleId, since }: { projectId: number; ruleId: string; since: number },
): Promise<Map<string, number>> {
  const rows = await tx.query<{ reason: string; count: number }>(
    `SELECT reason, count(*) AS count FROM beckon.decision
     WHERE project_id = $1 AND rule_id = $2 AND last_at >= $3 GROUP BY reason`,
    [projectId, ruleId, new Date(since)],
  );
  return new Map(rows.map((row) => [row.reason, row.count]));
}
