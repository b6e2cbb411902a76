import { countReasons } from './decisions/reads.ts';
import { countForLadder, type LadderCounts } from '../drafts/index.ts';
import { countInsights } from './insights/reads.ts';
import { countRuleDays, daysOf, emptyDay, type RuleDay, sinceDays } from './insights/rule-days.ts';
import type { Insight } from './insights/insight.ts';
import { liftOf, type LiftShown } from './insights/lift.ts';
import { getSettings } from '../workspace/index.ts';
import { findRule, type WholeRule } from './definitions/find-rule.ts';
import { type Reason, REASONS } from './definitions/rule.ts';
import { countLift, type Lift } from './runs/count-runs.ts';
import type { Tx } from '../../platform/db/statements.ts';

export type RuleResults = {
  rule: WholeRule;
  since: number;
  days: RuleDay[];
  /** The results of its emails; null if none was sent in this time. */
  letters: Insight | null;
  drafts: LadderCounts;
  excluded: { reason: Reason; count: number }[];
  /** For a rule with users in its holdout: how many reached its goal, since the rule was created. */
  lift: (Lift & { estimate: LiftShown | null }) | null;
};

type Asked = { projectId: number; reference: string; days: number; now: number };

/** Returns the results of a rule for the last days in the project's time zone, including today. */
export async function showRuleResults(
  tx: Tx,
  { projectId, reference, days, now }: Asked,
): Promise<RuleResults> {
  const rule = await findRule(tx, { projectId, reference });
  const { timeZone: zone } = (await getSettings(tx, projectId)).settings;
  const since = sinceDays(days, { now, zone });
  const ruleId = rule.id;
  const counted = (await countRuleDays(tx, { projectId, ruleId, since, now, zone })).get(ruleId);
  const { groups } = await countInsights(tx, { projectId, by: 'rule', since, until: now });
  const reasons = await countReasons(tx, { projectId, ruleId, since });
  return {
    rule,
    since,
    days: counted ?? daysOf({ since, now, zone }).map(emptyDay),
    letters: groups.find((group) => group.ruleId === ruleId) ?? null,
    drafts: await countForLadder(tx, projectId, ruleId),
    excluded: exclusionsOf(reasons),
    lift: await findLift(tx, projectId, ruleId),
  };
}

const NO_REFUSAL: ReadonlySet<string> = new Set(['fired', 'starts_later']);

/** The decision log also records what happened to emails. */
function exclusionsOf(reasons: Map<string, number>): RuleResults['excluded'] {
  return [...reasons]
    .flatMap(([reason, count]) => (isReason(reason) && !NO_REFUSAL.has(reason) ? [{ reason, count }] : []))
    .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

function isReason(reason: string): reason is Reason {
  return Object.hasOwn(REASONS, reason);
}

async function findLift(tx: Tx, projectId: number, ruleId: string): Promise<RuleResults['lift']> {
  const lift = await countLift(tx, { projectId, ruleId });
  return lift.holdout.enrolled === 0 ? null : { ...lift, estimate: liftOf(lift.treatment, lift.holdout) };
}
