/** Values that requests accept and that programs also use at run time. This file does not load TypeBox. */

/**
 * The scopes of a personal access token. No scope includes another: `edit` does not include `read`. A token never allows more
 * than the current role of its member in the project.
 */
export const TOKEN_SCOPES = ['read', 'review', 'edit', 'admin', 'import'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/**
 * Why a suppression is removed. A fixed list instead of text, which could contain personal data: the audit log is kept after a user is
 * erased.
 */
export const REMOVAL_REASONS = ['user_request', 'mistake', 'delivery_fixed', 'other'] as const;
export type RemovalReason = (typeof REMOVAL_REASONS)[number];

/** Why dead-lettered records are discarded. A fixed list, not text: the audit log is kept after a user is erased. */
export const DISCARD_REASONS = ['invalid_data', 'sent_again', 'test_data', 'other'] as const;
export type DiscardReason = (typeof DISCARD_REASONS)[number];

/** All reasons of suppressions, those that express the recipient's will most clearly first. */
export const SUPPRESSION_REASONS = [
  'unsubscribed',
  'complained',
  'manual',
  'hard_bounce',
  'soft_bounces',
  'snoozed',
] as const;
export type SuppressionReasonName = (typeof SUPPRESSION_REASONS)[number];

/** What emails are grouped by in insights. */
export const INSIGHT_GROUPINGS = ['rule', 'template', 'domain', 'provider'] as const;
export type InsightGrouping = (typeof INSIGHT_GROUPINGS)[number];

/** The states of webhook deliveries that a replay can select. */
export const REPLAYABLE_STATES = ['exhausted', 'missed', 'delivered'] as const;

export const DRAFT_STATES = [
  'scheduled',
  'approved',
  'held',
  'sending',
  'sent',
  'skipped',
  'canceled',
  'failed',
  'unknown',
] as const;
export type DraftState = (typeof DRAFT_STATES)[number];

export const EMAIL_STATES = ['claimed', 'submitting', 'deferred', 'sent', 'failed', 'unknown'] as const;
export type EmailState = (typeof EMAIL_STATES)[number];

/** Values of `outcome:` in the filter of emails. `bot_…`: only bots opened or clicked. */
export const EMAIL_OUTCOMES = [
  'opened',
  'clicked',
  'bot_opened',
  'bot_clicked',
  'replied',
  'bounced',
  'complained',
  'unsubscribed',
] as const;
export type EmailOutcome = (typeof EMAIL_OUTCOMES)[number];

/** What members decide in Review. */
export const REVIEW_ACTIONS = ['approve', 'edit', 'skip', 'postpone'] as const;
export type ReviewAction = (typeof REVIEW_ACTIONS)[number];

/** How the emails of a rule are sent: only after approval, or also automatically at their deadline. */
export const RULE_MODES = ['draft', 'autopilot'] as const;
