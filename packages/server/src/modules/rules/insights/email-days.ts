import type { EmailCounts, EmailDays } from '@beckon/contract/dashboard';
import { smallestIdAt } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type DayPeriods, dayPeriods } from './day-periods.ts';

/** The maximum number of emails to read, newest first. */
const EMAILS_MAX = 1_000_000;
const RULES_MAX = 12;
/** An id is created shortly before its email is claimed. */
const CLAIMED_WITHIN_MS = 60_000;

export type EmailDaysQuery = {
  projectId: number;
  now: number;
  days: number;
  zone: string;
  /** Counts the same days of the period before, too. */
  compare: boolean;
  /** Counts each of the rules with the most emails, too. */
  byRule: boolean;
};

type Counts = Record<keyof EmailCounts, number>;
type Row = Counts & { rule_id: string | null; name: string | null; day: string; is_cut: boolean };

/**
 * Counts emails by the day on which they were sent, in total and by outcome. Opens and clicks are those of humans. `countInsights` counts the
 * same, and so does the filter `sent` of the list of emails. Outcomes are read once, because a lookup for each of millions of emails takes
 * too long. Emails are counted as they are read, because a million of them, stored first, did not fit into memory. Ids of emails start with
 * the time, so outcomes are selected by the same period. Reads tables of other modules: `email`, `outcome` and `rule`. Failed emails without a bounce were not sent (`WAS_SENT`).
 */
export async function countEmailDays(tx: Tx, query: EmailDaysQuery): Promise<EmailDays> {
  const { projectId, zone, compare, byRule } = query;
  const periods = dayPeriods(query);
  const { now, before } = periods;
  const from = compare ? before.since : now.since;
  const rows = await tx.query<Row>(
    `WITH became AS (
       SELECT o.email_id, ${OUTCOMES.map(hasSql).join(', ')} FROM beckon.outcome o
       WHERE o.project_id = $1 AND o.email_id >= $7::uuid AND o.email_id < $8::uuid GROUP BY o.email_id
     ), counted AS MATERIALIZED (
       SELECT e.rule_id, e.day, count(*) AS emails, count(*) FILTER (WHERE ${WAS_SENT}) AS sent, ${OUTCOMES.map(countSql).join(', ')}
       FROM (
         SELECT m.id, m.state, m.rule_id, (m.claimed_at AT TIME ZONE $4)::date AS day FROM beckon.email m
         WHERE m.project_id = $1 AND m.claimed_at >= $2 AND m.claimed_at < $3 AND m.state IN ('sent', 'unknown', 'failed')
           AND NOT (m.claimed_at >= $5 AND m.claimed_at < $6)
         ORDER BY m.claimed_at DESC LIMIT ${EMAILS_MAX}
       ) e LEFT JOIN became b ON b.email_id = e.id GROUP BY e.rule_id, e.day
     ), largest AS (
       SELECT rule_id FROM counted WHERE day >= $9::date GROUP BY rule_id HAVING sum(sent) > 0 ORDER BY sum(sent) DESC, rule_id
       LIMIT CASE WHEN $10::boolean THEN ${RULES_MAX} ELSE 0 END
     ), listed AS (
       SELECT NULL::uuid AS rule_id, day, ${SUMS} FROM counted GROUP BY day
       UNION ALL SELECT rule_id, day, ${SUMS} FROM counted WHERE rule_id IN (SELECT rule_id FROM largest) GROUP BY rule_id, day
     )
     SELECT l.rule_id, coalesce(r.name, l.rule_id::text) AS name, l.day::text AS day, ${COUNTED.map((name) => `l.${name}`).join(', ')},
       (SELECT sum(emails) FROM counted) = ${EMAILS_MAX} AS is_cut
     FROM listed l LEFT JOIN beckon.rule r ON r.project_id = $1 AND r.id = l.rule_id`,
    [
      projectId,
      new Date(from),
      new Date(now.until),
      zone,
      new Date(before.until),
      new Date(now.since),
      smallestIdAt(from - CLAIMED_WITHIN_MS),
      smallestIdAt(now.until),
      now.days[0],
      byRule,
    ],
  );
  return emailDays(rows, { periods, compare });
}

/** Opens and clicks count if a human did them. A complaint is stored as an unsubscribe with a class, and counted separately. */
const OUTCOMES = [
  { type: 'opened', counts: `o.class = 'no'` },
  { type: 'clicked', counts: `o.class = 'no'` },
  { type: 'replied', counts: 'true' },
  { type: 'bounced', counts: `o.class = ''` },
  { type: 'unsubscribed', counts: `o.class = ''` },
] as const;
const COUNTED = ['sent', ...OUTCOMES.map(({ type }) => type)] as const;
const SUMS = COUNTED.map((name) => `sum(${name})::bigint AS ${name}`).join(', ');

function hasSql({ type, counts }: (typeof OUTCOMES)[number]): string {
  return `bool_or(o.type = 'email.${type}' AND ${counts}) AS ${type}`;
}

/** Only a bounce says that a failed email was sent. */
const WAS_SENT = `(e.state <> 'failed' OR b.bounced)`;

function countSql({ type }: (typeof OUTCOMES)[number]): string {
  return `count(*) FILTER (WHERE b.${type} AND ${WAS_SENT}) AS ${type}`;
}

function emailDays(rows: Row[], { periods, compare }: { periods: DayPeriods; compare: boolean }): EmailDays {
  const { now, before } = periods;
  const byRule = Map.groupBy(rows, ({ rule_id: ruleId }) => ruleId);
  const seriesOf = (ofRule: Row[]): { total: EmailCounts; before: EmailCounts | null } => ({
    total: countsOf(ofRule, now.days),
    before: compare ? countsOf(ofRule, before.days) : null,
  });
  const rules = [...byRule].flatMap(([id, ofRule]) =>
    id === null ? [] : [{ id, name: ofRule[0]?.name ?? id, ...seriesOf(ofRule) }],
  );
  const sentOf = ({ total }: { total: EmailCounts }): number => total.sent.reduce((sum, n) => sum + n, 0);
  return {
    days: now.days,
    ...seriesOf(byRule.get(null) ?? []),
    rules: rules.toSorted((a, b) => sentOf(b) - sentOf(a) || (a.name < b.name ? -1 : 1)),
    truncated: rows[0]?.is_cut ?? false,
  };
}

function countsOf(rows: Row[], days: string[]): EmailCounts {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return Object.fromEntries(
    COUNTED.map((name) => [name, days.map((day) => byDay.get(day)?.[name] ?? 0)]),
  ) as EmailCounts;
}
