import type { ActiveRule, Anchor, Definition, Rule, Model } from '../../rules/index.ts';
import type { Collisions } from './cap-collisions.ts';
import type { EmailSample, WouldEmail } from './emails.ts';

/** One rule over a time range, decided by the engine's own functions. Enrollments are kept in memory only. */
export type Play = {
  projectId: number;
  /** Counts as enabled since the beginning. */
  rule: ActiveRule;
  model: Model;
  from: number;
  until: number;
  periodMs: number;
  /** Called with the progress after each stretch of time. */
  watch: (progress: { looked: number; at: number }) => void;
};

export type Entered = {
  userId: string;
  at: number;
  key: string;
  by: Anchor['kind'];
  name: string;
  isHeldOut: boolean;
};

export type Rehearsed = {
  /** Events, joins and dates for which the rule was evaluated. */
  occasions: number;
  /** True if there were too many dates or members, and not all of them were evaluated. */
  isCut: boolean;
  /** The time at which the backtest stopped because there were too many events. */
  cutAt: number | null;
  entered: Entered[];
  excluded: Map<string, number>;
  /** Users with a timer after the time range. */
  waiting: number;
  emails: WouldEmail[];
  samples: EmailSample[];
};

/** The result for one version of a rule. */
export type ReplayResult = {
  rule: Rule & { definition: Definition };
  done: Rehearsed;
  collisions: Collisions;
};
