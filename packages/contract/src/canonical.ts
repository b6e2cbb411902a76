export type PropertyRule = { type: 'string' | 'number'; required?: true };

/**
 * The ten canonical lifecycle events and the properties that carry meaning in them. A property named here must have
 * this type where it is present; every other property is kept as it is.
 */
export const CANONICAL_EVENTS: Record<string, Record<string, PropertyRule>> = {
  user_signed_up: { plan: { type: 'string' }, source: { type: 'string' } },
  onboarding_completed: { step: { type: 'string' } },
  feature_used: { feature: { type: 'string' }, count: { type: 'number' } },
  trial_started: { trialDays: { type: 'number' }, plan: { type: 'string' } },
  trial_expiring: { trialDays: { type: 'number' } },
  usage_threshold_reached: {
    usagePercent: { type: 'number', required: true },
    meter: { type: 'string' },
    limit: { type: 'number' },
  },
  subscription_started: {
    plan: { type: 'string' },
    interval: { type: 'string' },
    amount: { type: 'number' },
    currency: { type: 'string' },
  },
  subscription_changed: {
    fromPlan: { type: 'string' },
    toPlan: { type: 'string' },
    direction: { type: 'string' },
  },
  subscription_canceled: { plan: { type: 'string' }, reason: { type: 'string' } },
  payment_failed: { amount: { type: 'number' }, currency: { type: 'string' }, attempt: { type: 'number' } },
};
