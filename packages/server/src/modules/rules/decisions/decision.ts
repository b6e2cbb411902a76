/** An entry of the decision log: a rule fired for a user, or the first gate that refused. There is one per enrollment key and reason. */
export type Decision = {
  projectId: number;
  userId: string;
  ruleId: string;
  /** The enrollment key, or an empty string if the rule has none. */
  key: string;
  reason: string;
  /** The values seen the last time. */
  detail: Record<string, unknown>;
  /** In milliseconds. */
  at: number;
};

/** A decision with the number of its occurrences and the time of the first. `at` is the time of the last. */
export type DecisionCount = Decision & { count: number; firstAt: number };
