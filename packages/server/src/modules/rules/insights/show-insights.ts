import type { InsightGroup, InsightGrouping, InsightRange } from '@beckon/contract/dashboard';
import { iso } from '../../../platform/time/clock.ts';
import { bouncedOf, deliveredOf, type Insight, liftOf, OPENED_WITHIN_MS } from './insight.ts';
import { countInsights } from './reads.ts';
import { countLift } from '../runs/runs-of-rule.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type ShowInsightsQuery = {
  projectId: number;
  by: InsightGrouping;
  since: number;
  /** If omitted, up to the newest. */
  until?: number;
  /** Omits the lift, which covers all time and costs a query per rule. */
  withoutLift?: boolean;
};

/** Later than any claimed email. */
const END_OF_TIME = Date.UTC(9999, 0);

/** Returns the results of a project's emails within a period, by rule, template, domain or mailbox provider. */
export async function showInsights(tx: Tx, query: ShowInsightsQuery): Promise<InsightRange> {
  const { projectId, by, since, until = END_OF_TIME, withoutLift = false } = query;
  const { total, groups, isCut } = await countInsights(tx, { projectId, by, since, until });
  const rows: InsightGroup[] = [];
  for (const group of groups)
    rows.push(insightGroup(group, withoutLift ? null : await findLift(tx, projectId, group)));
  const period = { since: iso(since), until: iso(until) };
  return { ...period, truncated: isCut, total: insightGroup(total, null), groups: rows };
}

async function findLift(tx: Tx, projectId: number, { ruleId }: Insight): Promise<InsightGroup['lift']> {
  if (ruleId === null) return null;
  const { treatment, holdout } = await countLift(tx, { projectId, ruleId });
  return holdout.enrolled === 0 ? null : { treatment, holdout, estimate: liftOf(treatment, holdout) };
}

/** Rates are shares: bounces and edits of the sent emails, everything else of the delivered ones. */
function insightGroup(insight: Insight, lift: InsightGroup['lift']): InsightGroup {
  const { name, sent, opened, clicked, replied, complained, unsubscribed } = insight;
  const { hard, soft, policy, infrastructure } = insight;
  const delivered = deliveredOf(insight);
  return {
    name,
    rule_id: insight.ruleId,
    sent,
    delivered,
    opened,
    clicked,
    bot_opened: insight.botOpened,
    bot_clicked: insight.botClicked,
    replied,
    bounced: { hard, soft, policy, infrastructure },
    complained,
    unsubscribed,
    edited: { edited: insight.edited, total: insight.editable },
    opened_within: insight.openedWithin.map((emails, n) => ({
      until_ms: OPENED_WITHIN_MS[n] ?? null,
      emails,
    })),
    median_open_ms: insight.medianOpenMs,
    rates: {
      delivered: share(delivered, sent),
      bounced: share(bouncedOf(insight), sent),
      opened: share(opened, delivered),
      clicked: share(clicked, delivered),
      replied: share(replied, delivered),
      complained: share(complained, delivered),
      unsubscribed: share(unsubscribed, delivered),
      edited: share(insight.edited, insight.editable),
    },
    lift,
  };
}

/** Rounds to four decimal places; null if there are no emails. */
function share(count: number, of: number): number | null {
  return of <= 0 ? null : Math.round((count / of) * 10_000) / 10_000;
}
