import type { Collisions } from './cap-collisions.ts';
import type { EmailSample, SimulatedEmail } from './emails.ts';
import type { ActiveRule } from '../definitions/model.ts';
import type { Anchor, Definition, Rule } from '../definitions/rule.ts';
import type { Model } from '../project-model.ts';

/** One rule over a time range, decided by the engine's own functions. Enrollments are kept in memory only. */
export type ReplayRange = {
  projectId: number;
  /** Counts as enabled since the beginning. */
  rule: ActiveRule;
  model: Model;
  from: number;
  until: number;
  periodMs: number;
  /** Called with the progress after each stretch of time. */
  watch: (progress: { evaluated: number; at: number }) => void;
};

export type ReplayedEnrollment = {
  userId: string;
  at: number;
  key: string;
  by: Anchor['kind'];
  name: string;
  isHeldOut: boolean;
};

export type ReplayOutcome = {
  /** Events, joins and dates for which the rule was evaluated. */
  occasions: number;
  /** True if there were too many dates or members, and not all of them were evaluated. */
  isCut: boolean;
  /** The time at which the backtest stopped because there were too many events. */
  cutAt: number | null;
  enrollments: ReplayedEnrollment[];
  excluded: Map<string, number>;
  /** Users with a timer after the time range. */
  waiting: number;
  emails: SimulatedEmail[];
  samples: EmailSample[];
  /** The users and emails of each position of the program that was reached. */
  reached: Map<number, StepReach>;
};

export type StepReach = { users: number; emails: number };

/** The result for one version of a rule. */
export type ReplayResult = {
  rule: Rule & { definition: Definition };
  outcome: ReplayOutcome;
  collisions: Collisions;
};
