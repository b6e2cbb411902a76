import type { JsonObject } from '@beckon/contract';

/** The canonical events with realistic properties, so that a rule has values to match. */
export const CANONICAL_SAMPLES: Record<string, JsonObject> = {
  user_signed_up: { plan: 'trial', source: 'website' },
  onboarding_completed: { step: 'invited_team' },
  feature_used: { feature: 'report_export', count: 3 },
  trial_started: { trialDays: 14, plan: 'team' },
  trial_expiring: { trialDays: 3 },
  usage_threshold_reached: { usagePercent: 85, meter: 'seats', limit: 20 },
  subscription_started: { plan: 'team', interval: 'month', amount: 49, currency: 'EUR' },
  subscription_changed: { fromPlan: 'team', toPlan: 'business', direction: 'upgrade' },
  subscription_canceled: { plan: 'team', reason: 'too_expensive' },
  payment_failed: { amount: 49, currency: 'EUR', attempt: 1 },
};
