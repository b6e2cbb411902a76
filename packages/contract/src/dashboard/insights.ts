import type { ItemResponse, Raw } from './envelope.ts';

export type InsightGrouping = 'rule' | 'template' | 'domain' | 'provider';

export type InsightVariant = { enrolled: number; converted: number };

/** Emails opened by a human within this time, and not within the one before. Null: later. */
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
  /** Emails that a member edited, of those whose draft is still stored. */
  edited: { edited: number; total: number };
  opened_within: OpenedWithin[];
  /** The median time until the first open. */
  median_open_ms: number | null;
  /**
   * Shares. `delivered` and `bounced`: of sent emails. `edited`: of `edited.total`. The others: of delivered emails. Null: the
   * total is 0.
   */
  rates: Record<
    'delivered' | 'bounced' | 'opened' | 'clicked' | 'replied' | 'complained' | 'unsubscribed' | 'edited',
    number | null
  >;
  lift: {
    treatment: InsightVariant;
    holdout: InsightVariant;
    /** The difference of the shares that reached the goal, with its 95 % interval. Null: fewer than 100 users in an arm. */
    estimate: { difference: number; from: number; to: number } | null;
  } | null;
};

export type InsightRange = {
  since: string;
  until: string;
  /** All groups together. */
  total: InsightGroup;
  groups: InsightGroup[];
  /** There are more emails, or more groups, than are counted. */
  truncated: boolean;
};

export type Insights = {
  by: InsightGrouping;
  range: InsightRange;
  /** The period of the same length before; null without `compare`. */
  before: InsightRange | null;
};

/** `until`: default now. `since`: default `days` before it, or 30 days. */
export type InsightsQuery = { by?: InsightGrouping; days?: number; since?: string; until?: string };

export type InsightsApi = {
  'GET /projects/:project/insights': {
    query: InsightsQuery & { compare?: boolean };
    response: ItemResponse<Insights>;
  };
  'GET /projects/:project/insights/export': { query: InsightsQuery; response: Raw };
};
