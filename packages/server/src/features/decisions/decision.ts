/** The ledger: that a rule fired for a person, or the first gate that refused, once for each entry key and reason. */
export type Decision = {
  projectId: number;
  userId: string;
  ruleId: string;
  /** Of the entry; empty where the rule has none. */
  key: string;
  reason: string;
  /** The values that were seen, the last time. */
  detail: Record<string, unknown>;
  /** Milliseconds. */
  at: number;
};

/** How often it was decided so, and when first and last. */
export type LedgerRow = Decision & { count: number; firstAt: number };
