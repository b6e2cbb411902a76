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
  /** The period before; null without `compare`. Of a number of days: that many days earlier, up to the same time of day. */
  before: InsightRange | null;
};

/** Counts of emails by day. An email counts on the day on which it was sent, for each of its outcomes once. */
export type EmailCounts = Record<
  'sent' | 'opened' | 'clicked' | 'replied' | 'bounced' | 'unsubscribed',
  number[]
>;

/** The emails of each day in the project's time zone. All lists of numbers have one entry per day. */
export type EmailDays = {
  /** The days, oldest first; the last one is today. */
  days: string[];
  total: EmailCounts;
  /** The days that are as many days earlier. The last one ends at the present time of day. Null without `compare`. */
  before: EmailCounts | null;
  /** The rules with the most emails, with `rules`. */
  rules: { id: string; name: string; total: EmailCounts; before: EmailCounts | null }[];
  /** There are more emails than are counted. */
  truncated: boolean;
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
  'GET /projects/:project/insights/days': {
    query: Type.Object({
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 366 })),
      compare: Type.Optional(Type.Boolean()),
      rules: Type.Optional(Type.Boolean()),
    }),
    response: item<EmailDays>(),
  },
  'GET /projects/:project/insights/export': { query: Type.Object(RANGE), response: raw() },
};
