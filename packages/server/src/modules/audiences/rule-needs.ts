import type { Tx } from '../../platform/db/statements.ts';

/** A version of a rule in force, and the events and audiences that it uses. */
export type RuleNeed = {
  ruleId: string;
  name: string;
  /** False for an older version with active runs or pending timers. */
  isPresent: boolean;
  events: string[];
  audienceIds: string[];
  /** How far back the rule looks, in milliseconds, one for each of its conditions. */
  windowsMs: number[];
};

/** Lists the needs of all rules of a project. Rules depend on audiences, so audiences get this function as an argument. */
export type ListRuleNeeds = (tx: Tx, projectId: number, now: number) => Promise<RuleNeed[]>;
