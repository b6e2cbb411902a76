import { smallestIdAt } from '../../base/ids.ts';
import type { Tx } from '../../io/db/index.ts';
import type { Grouping, Insight } from './insight.ts';

/** The newest letters of a period, at most. */
const LETTERS_MAX = 1_000_000;
const GROUPS_MAX = 500;

/** What the groups are called; an inline letter by its rule. */
const NAMES: Record<Grouping, string> = {
  rule: `coalesce(r.name, m.rule_id::text)`,
  letter: `coalesce(m.letter, 'the text of the rule ' || coalesce(r.name, m.rule_id::text))`,
  domain: `coalesce(m.domain, 'none')`,
  provider: `coalesce(m.provider, 'unknown')`,
};

type Row = Omit<Insight, 'ruleId'> & { rule_id: string | null; letters: number };

/** `isCut`: there are more letters in the period than are looked at. */
export type Insights = { groups: Insight[]; isCut: boolean };

/**
 * What became of the letters that were claimed since then, the largest groups first. Ids of letters begin with the time, so
 * that outcomes are found by the same period. Reads tables of sisters: `message`, `outcome` and `rule`.
 */
export async function countInsights(
  tx: Tx,
  { projectId, by, since }: { projectId: number; by: Grouping; since: number },
): Promise<Insights> {
  const bounced = (kind: string): string => `count(*) FILTER (WHERE b.bounced = '${kind}') AS "${kind}"`;
  const rows = await tx.query<Row>(
    `WITH letters AS MATERIALIZED (
       SELECT m.id, m.state, ${NAMES[by]} AS name, ${by === 'rule' ? 'm.rule_id' : 'NULL::uuid'} AS rule_id
       FROM beckon.message m LEFT JOIN beckon.rule r ON r.project_id = m.project_id AND r.id = m.rule_id
       WHERE m.project_id = $1 AND m.claimed_at >= $2 AND m.state IN ('sent', 'unknown', 'failed')
       ORDER BY m.claimed_at DESC LIMIT ${LETTERS_MAX}
     ), became AS (
       SELECT o.message_id, ${BECAME} FROM beckon.outcome o
       WHERE o.project_id = $1 AND o.message_id >= $3::uuid GROUP BY o.message_id
     ), handed AS (
       SELECT l.name, l.rule_id, b.* FROM letters l LEFT JOIN became b ON b.message_id = l.id
       WHERE l.state <> 'failed' OR b.bounced IS NOT NULL
     )
     SELECT b.name, b.rule_id, count(*) AS sent, count(*) FILTER (WHERE b.opened) AS opened,
       count(*) FILTER (WHERE b.clicked) AS clicked, count(*) FILTER (WHERE b.machine_opened) AS "machineOpened",
       count(*) FILTER (WHERE b.machine_clicked) AS "machineClicked", count(*) FILTER (WHERE b.replied) AS replied,
       ${['hard', 'soft', 'policy', 'infrastructure'].map(bounced).join(', ')},
       count(*) FILTER (WHERE b.complained) AS complained, count(*) FILTER (WHERE b.unsubscribed) AS unsubscribed,
       (SELECT count(*) FROM letters) AS letters
     FROM handed b GROUP BY b.name, b.rule_id ORDER BY sent DESC, b.name LIMIT ${GROUPS_MAX}`,
    [projectId, new Date(since), smallestIdAt(since - CLAIMED_WITHIN_MS)],
  );
  const isCut = rows.length === GROUPS_MAX || rows.some(({ letters }) => letters === LETTERS_MAX);
  return { groups: rows.map(toInsight), isCut };
}

const BECAME = `bool_or(o.type = 'email.opened' AND o.class = 'no') AS opened,
  bool_or(o.type = 'email.clicked' AND o.class = 'no') AS clicked,
  bool_or(o.type = 'email.opened' AND o.class <> 'no') AS machine_opened,
  bool_or(o.type = 'email.clicked' AND o.class <> 'no') AS machine_clicked,
  bool_or(o.type = 'email.replied') AS replied,
  max(o.detail ->> 'bounce_class') FILTER (WHERE o.type = 'email.bounced' AND o.class = '') AS bounced,
  bool_or(o.type = 'email.unsubscribed' AND o.class = 'complaint') AS complained,
  bool_or(o.type = 'email.unsubscribed' AND o.class = '') AS unsubscribed`;

/** An id is made a moment before its letter is claimed. */
const CLAIMED_WITHIN_MS = 60_000;

function toInsight({ rule_id: ruleId, letters: _letters, ...counts }: Row): Insight {
  return { ...counts, ruleId };
}
