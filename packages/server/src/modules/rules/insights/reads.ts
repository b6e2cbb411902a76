import type { InsightGrouping } from '@beckon/contract/dashboard';
import { smallestIdAt } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type Insight, OPENED_WITHIN_MS } from './insight.ts';

/** The maximum number of emails to read, newest first. */
const EMAILS_MAX = 1_000_000;
const GROUPS_MAX = 500;

/** The name of each kind of group. An email with an inline template is named after its rule. */
const NAMES: Record<InsightGrouping, string> = {
  rule: `coalesce(r.name, m.rule_id::text)`,
  template: `coalesce(m.template, 'the text of the rule ' || coalesce(r.name, m.rule_id::text))`,
  domain: `coalesce(m.domain, 'none')`,
  provider: `coalesce(m.provider, 'unknown')`,
};

type Row = Omit<Insight, 'ruleId'> & { rule_id: string | null; emails: number; is_total: boolean };

/** `isCut`: the period has more emails or groups than the limits. `total` covers all emails that were read. */
export type Insights = { total: Insight; groups: Insight[]; isCut: boolean };
export type InsightCountQuery = { projectId: number; by: InsightGrouping; since: number; until: number };

/**
 * Counts the outcomes of emails claimed within a period, largest groups first. Ids of emails start with the time, so outcomes are selected
 * by the same period. Reads tables of other modules: `email`, `draft`, `outcome` and `rule`. Failed emails without a bounce were not sent
 * (`WAS_SENT`).
 */
export async function countInsights(
  tx: Tx,
  { projectId, by, since, until }: InsightCountQuery,
): Promise<Insights> {
  const rows = await tx.query<Row>(
    `WITH emails AS MATERIALIZED (
       SELECT m.id, m.draft_id, m.state, coalesce(m.ended_at, m.claimed_at) AS left_at, ${NAMES[by]} AS name,
         ${by === 'rule' ? 'm.rule_id' : 'NULL::uuid'} AS rule_id
       FROM beckon.email m LEFT JOIN beckon.rule r ON r.project_id = m.project_id AND r.id = m.rule_id
       WHERE m.project_id = $1 AND m.claimed_at >= $2 AND m.claimed_at < $3 AND m.state IN ('sent', 'unknown', 'failed')
       ORDER BY m.claimed_at DESC LIMIT ${EMAILS_MAX}
     ), became AS (
       SELECT o.email_id, ${BECAME} FROM beckon.outcome o
       WHERE o.project_id = $1 AND o.email_id >= $4::uuid AND o.email_id < $5::uuid GROUP BY o.email_id
     ), handed AS (
       SELECT l.name, l.rule_id, d.is_edited, b.*,
         CASE WHEN b.opened_at IS NOT NULL THEN greatest(0, extract(epoch FROM b.opened_at - l.left_at) * 1000)::float8 END AS open_ms
       FROM emails l LEFT JOIN became b ON b.email_id = l.id
       LEFT JOIN beckon.draft d ON d.project_id = $1 AND d.id = l.draft_id
       WHERE l.state <> 'failed' OR b.bounced IS NOT NULL
     )
     SELECT b.name, b.rule_id, grouping(b.name) = 1 AS is_total, ${COUNTED}, (SELECT count(*) FROM emails) AS emails
     FROM handed b GROUP BY GROUPING SETS ((b.name, b.rule_id), ())
     ORDER BY is_total DESC, sent DESC, b.name LIMIT ${GROUPS_MAX + 1}`,
    [
      projectId,
      new Date(since),
      new Date(until),
      smallestIdAt(since - CLAIMED_WITHIN_MS),
      smallestIdAt(until),
    ],
  );
  const [total, ...groups] = rows;
  if (!total?.is_total) throw new Error('an aggregate without a row');
  const isCut = groups.length === GROUPS_MAX || total.emails === EMAILS_MAX;
  return { total: toInsight({ ...total, name: 'all' }), groups: groups.map(toInsight), isCut };
}

const bounced = (kind: string): string => `count(*) FILTER (WHERE b.bounced = '${kind}') AS "${kind}"`;
const COUNTED = `count(*) AS sent, count(*) FILTER (WHERE b.opened) AS opened,
  count(*) FILTER (WHERE b.clicked) AS clicked, count(*) FILTER (WHERE b.bot_opened) AS "botOpened",
  count(*) FILTER (WHERE b.bot_clicked) AS "botClicked", count(*) FILTER (WHERE b.replied) AS replied,
  ${['hard', 'soft', 'policy', 'infrastructure'].map(bounced).join(', ')},
  count(*) FILTER (WHERE b.complained) AS complained, count(*) FILTER (WHERE b.unsubscribed) AS unsubscribed,
  count(*) FILTER (WHERE b.is_edited) AS edited, count(b.is_edited) AS editable,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY b.open_ms) AS "medianOpenMs",
  ARRAY[${openedWithin().join(', ')}] AS "openedWithin"`;

/** Counts the opens between adjacent bounds, and those after the last one. */
function openedWithin(): string[] {
  return [0, ...OPENED_WITHIN_MS].map((from, n) => {
    const end = OPENED_WITHIN_MS[n];
    const before = end === undefined ? '' : ` AND b.open_ms < ${end}`;
    return `count(*) FILTER (WHERE b.open_ms >= ${from}${before})::int`;
  });
}

const BECAME = `bool_or(o.type = 'email.opened' AND o.class = 'no') AS opened,
  min(o.occurred_at) FILTER (WHERE o.type = 'email.opened' AND o.class = 'no') AS opened_at,
  bool_or(o.type = 'email.clicked' AND o.class = 'no') AS clicked,
  bool_or(o.type = 'email.opened' AND o.class <> 'no') AS bot_opened,
  bool_or(o.type = 'email.clicked' AND o.class <> 'no') AS bot_clicked,
  bool_or(o.type = 'email.replied') AS replied,
  max(o.detail ->> 'bounce_class') FILTER (WHERE o.type = 'email.bounced' AND o.class = '') AS bounced,
  bool_or(o.type = 'email.unsubscribed' AND o.class = 'complaint') AS complained,
  bool_or(o.type = 'email.unsubscribed' AND o.class = '') AS unsubscribed`;

/** An id is created shortly before its email is claimed. */
const CLAIMED_WITHIN_MS = 60_000;

function toInsight({ rule_id: ruleId, emails: _emails, is_total: _isTotal, ...counts }: Row): Insight {
  const { medianOpenMs } = counts;
  return { ...counts, ruleId, medianOpenMs: medianOpenMs === null ? null : Math.round(medianOpenMs) };
}
