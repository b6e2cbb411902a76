import type { Decision, DecisionCount } from './decision.ts';
import { momentList, plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** Reads and writes the table `decision`. */
export async function writeDecisions(tx: Tx, decisions: Decision[]): Promise<void> {
  if (decisions.length === 0) return;
  const rows = inOrder(mergeDecisions(decisions));
  await tx.prepared({
    name: 'decisions.write',
    text: `INSERT INTO beckon.decision AS known
             (project_id, external_user_id, rule_id, key, reason, count, first_at, last_at, detail)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[],
             $8::timestamptz[], $9::jsonb[])
           ON CONFLICT (project_id, external_user_id, rule_id, key, reason) DO UPDATE SET
             count = known.count + excluded.count, last_at = greatest(known.last_at, excluded.last_at), detail = excluded.detail`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      rows.map((row) => row.userId),
      plainList(rows.map((row) => row.ruleId)),
      rows.map((row) => row.key),
      rows.map((row) => row.reason),
      plainList(rows.map((row) => row.count)),
      momentList(rows.map((row) => row.firstAt)),
      momentList(rows.map((row) => row.at)),
      rows.map((row) => JSON.stringify(row.detail)),
    ],
  });
}

/** Merges decisions about the same row, because one statement must not update a row twice. The last one provides the values seen. */
function mergeDecisions(decisions: Decision[]): DecisionCount[] {
  const rows = new Map<string, DecisionCount>();
  for (const decision of decisions) {
    const { projectId, ruleId, reason, userId, key, at } = decision;
    // An id may contain any character, so its length marks where it ends.
    const rowKey = `${projectId} ${ruleId} ${reason} ${userId.length} ${userId} ${key}`;
    const existing = rows.get(rowKey);
    rows.set(rowKey, {
      ...decision,
      at: Math.max(existing?.at ?? at, at),
      firstAt: Math.min(existing?.firstAt ?? at, at),
      count: (existing?.count ?? 0) + 1,
    });
  }
  return [...rows.values()];
}

/** Sorts the rows. All writers of several rows use this order, which avoids deadlocks. */
function inOrder(rows: DecisionCount[]): DecisionCount[] {
  return rows.toSorted(
    (a, b) =>
      a.projectId - b.projectId ||
      compare(a.userId, b.userId) ||
      compare(a.ruleId, b.ruleId) ||
      compare(a.key, b.key) ||
      compare(a.reason, b.reason),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The position at which a deletion step ended. */
export type DecisionCursor = Pick<Decision, 'ruleId' | 'userId' | 'key' | 'reason'> & { at: Date };

const BEGINNING: DecisionCursor = {
  ruleId: '00000000-0000-0000-0000-000000000000',
  at: new Date(0),
  userId: '',
  key: '',
  reason: '',
};

/**
 * Deletes up to `limit` rows that last changed before the given time. Returns the position at which it ended, or null if there are no more.
 * "Fired" rows are kept as long as the draft that they created. Drafts are looked up one at a time (OFFSET 0) in the table of the `drafts`
 * module, not for the whole project. The index is scanned rule by rule from `from`, so rows that are kept are read once and not in each
 * step. Rows that another transaction is writing are skipped.
 */
export async function forgetDecisions(
  tx: Tx,
  input: { projectId: number; before: Date; from: DecisionCursor | null; limit: number },
): Promise<DecisionCursor | null> {
  const { projectId, before, limit } = input;
  const from = input.from ?? BEGINNING;
  const rows = await tx.query<DecisionCursor & { isFull: boolean }>(
    `WITH RECURSIVE rules AS (
       SELECT $4::uuid AS rule_id, $5::timestamptz AS last_at, $6::text AS user_id, $7::text AS key, $8::text AS reason
       UNION ALL
       SELECT n.rule_id, '-infinity'::timestamptz, '', '', '' FROM rules r CROSS JOIN LATERAL (
         SELECT rule_id FROM beckon.decision WHERE project_id = $1 AND rule_id > r.rule_id ORDER BY rule_id LIMIT 1
       ) n
     ), old AS MATERIALIZED (
       SELECT d.* FROM rules r CROSS JOIN LATERAL (
         SELECT d.rule_id, d.last_at, d.external_user_id, d.key, d.reason FROM beckon.decision d
         WHERE d.project_id = $1 AND d.rule_id = r.rule_id AND d.last_at < $2
           AND (d.last_at, d.external_user_id, d.key, d.reason) > (r.last_at, r.user_id, r.key, r.reason)
         ORDER BY d.last_at, d.external_user_id, d.key, d.reason LIMIT $3
       ) d LIMIT $3
     ), free AS MATERIALIZED (
       SELECT d.external_user_id, d.rule_id, d.key, d.reason FROM old o JOIN beckon.decision d
         ON d.external_user_id = o.external_user_id AND d.rule_id = o.rule_id AND d.key = o.key AND d.reason = o.reason
       WHERE d.project_id = $1 AND d.last_at < $2 AND (d.reason <> 'fired' OR NOT EXISTS (
         SELECT FROM beckon.draft f WHERE f.project_id = $1 AND f.external_user_id = d.external_user_id
           AND f.rule_id = d.rule_id AND f.key = d.key OFFSET 0))
       FOR UPDATE OF d SKIP LOCKED
     ), gone AS (
       DELETE FROM beckon.decision d USING free f
       WHERE d.project_id = $1 AND d.external_user_id = f.external_user_id AND d.rule_id = f.rule_id AND d.key = f.key
         AND d.reason = f.reason
     )
     SELECT rule_id AS "ruleId", last_at AS at, external_user_id AS "userId", key, reason, count(*) OVER () = $3 AS "isFull"
     FROM old ORDER BY rule_id DESC, last_at DESC, external_user_id DESC, key DESC, reason DESC LIMIT 1`,
    [projectId, before, limit, from.ruleId, from.at, from.userId, from.key, from.reason],
  );
  return rows[0]?.isFull ? rows[0] : null;
}

/** Deletes the decisions about a user and returns their number. */
export async function eraseDecisions(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.decision WHERE project_id = $1 AND external_user_id = $2 RETURNING 1`,
    [projectId, userId],
  );
  return rows.length;
}

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
  query: { projectId: number; userId: string; ruleId?: string; limit: number },
): Promise<DecisionCount[]> {
  const { projectId, userId, ruleId = null, limit } = query;
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
