import type { One, Raw } from './envelope.ts';

export type InsightGrouping = 'rule' | 'template' | 'domain' | 'provider';

export type InsightArm = { enrolled: number; converted: number };

/** Up to how many milliseconds behind the letter the first person opened it; the last one has no end. */
export type OpenedWithin = { until_ms: number | null; emails: number };

export type InsightGroup = {
  name: string;
  rule_id: string | null;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bot_opened: number;
  bot_clicked: number;
  replied: number;
  bounced: Record<'hard' | 'soft' | 'policy' | 'infrastructure', number>;
  complained: number;
  unsubscribed: number;
  /** Of the letters whose draft is still there, those that a person changed before they left. */
  edited: { edited: number; total: number };
  opened_within: OpenedWithin[];
  /** Half of those that were opened were so within this time. */
  median_open_ms: number | null;
  /** Shares: bounces and edits of what was sent, everything else of what arrived; null of nothing. */
  rates: Record<
    'delivered' | 'bounced' | 'opened' | 'clicked' | 'replied' | 'complained' | 'unsubscribed' | 'edited',
    number | null
  >;
  lift: {
    treatment: InsightArm;
    holdout: InsightArm;
    /** The difference of the shares that reached the goal, with its 95 % interval. Null: fewer than 100 users in an arm. */
    estimate: { difference: number; from: number; to: number } | null;
  } | null;
};

export type InsightRange = {
  since: string;
  until: string;
  /** All together. */
  total: InsightGroup;
  groups: InsightGroup[];
  /** There are more letters, or more groups, than are looked at. */
  truncated: boolean;
};

export type Insights = {
  by: InsightGrouping;
  range: InsightRange;
  /** As long a time right before it; null where nobody asked to compare. */
  before: InsightRange | null;
};

/** `until` is now unless said; `since` so many `days` before it, or 30. */
export type InsightsQuery = { by?: InsightGrouping; days?: number; since?: string; until?: string };

export type InsightsApi = {
  'GET /projects/:project/insights': {
    query: InsightsQuery & { compare?: boolean };
    answer: One<Insights>;
  };
  'GET /projects/:project/insights/export': { query: InsightsQuery; answer: Raw };
};
