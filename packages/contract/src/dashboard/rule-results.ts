import type { ExcludedUsers, RuleDay } from './rules.ts';

export type RuleVariant = { enrolled: number; converted: number };
export type RuleLift = {
  treatment: RuleVariant;
  holdout: RuleVariant;
  /** The difference of the shares that reached the goal, with its 95 % interval. Null: fewer than 100 users in an arm. */
  estimate: { difference: number; from: number; to: number } | null;
};

export type RuleResults = {
  since: string;
  funnel: {
    enrolled: number;
    drafted: number;
    sent: number;
    delivered: number;
    opened: number;
    clicked: number;
    goal: number;
  };
  days: RuleDay[];
  bounced: number;
  complained: number;
  unsubscribed: number;
  replied: number;
  /** How the last drafts ended: sent unedited, sent edited, or skipped. */
  drafts: { untouched: number; edited: number; skipped: number };
  /** Why users were not enrolled. `count`: evaluations. */
  excluded: ExcludedUsers[];
  has_goal: boolean;
  holdout_percent: number;
  /** The comparison with the holdout since the rule was created. Null: no users are in the holdout. */
  lift: RuleLift | null;
};
