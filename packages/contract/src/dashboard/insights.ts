import Type, { type Static, type TObject } from 'typebox';
import { INSIGHT_GROUPINGS, type InsightGrouping } from './choices.ts';
import { item, oneOf, raw } from './envelope.ts';
import type { RuleLift } from './rules.ts';

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
  /** For a rule with users in its holdout. */
  lift: RuleLift | null;
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
const RANGE = {
  by: Type.Optional(oneOf(INSIGHT_GROUPINGS)),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 366 })),
  since: Type.Optional(Type.String({ maxLength: 50 })),
  until: Type.Optional(Type.String({ maxLength: 50 })),
};
export type InsightsQuery = Static<TObject<typeof RANGE>>;

export const INSIGHTS_API = {
  'GET /projects/:project/insights': {
    query: Type.Object({ ...RANGE, compare: Type.Optional(Type.Boolean()) }),
    response: item<Insights>(),
  },
  'GET /projects/:project/insights/export': { query: Type.Object(RANGE), response: raw() },
};
