import { type ParsedRule, parseRule } from './parse.ts';

/** Their emails have the same names. */
const DOCUMENTS: object[] = [
  { name: 'welcome', when: { event: 'user_signed_up' }, priority: 70, steps: [{ draft: 'welcome' }] },
  {
    name: 'onboarding_stall',
    when: {
      absence_of: ['onboarding_completed', 'feature_used'],
      since: { event: 'user_signed_up' },
      for: '3d',
    },
    // A user who makes progress before the email's deadline no longer needs it.
    exits: { events: ['onboarding_completed', 'feature_used'] },
    priority: 60,
    expires_after: '7d',
    steps: [{ draft: 'onboarding_stall' }],
  },
  {
    name: 'plan_limit_upsell',
    when: { event: 'usage_threshold_reached', where: [{ property: 'usagePercent', at_least: 80 }] },
    enrollment: { cooldown: '30d', per: ['meter'], again: { property: 'usagePercent', at_least: 100 } },
    priority: 80,
    steps: [{ draft: 'plan_limit_upsell' }],
  },
  {
    name: 'trial_expiring',
    when: [
      {
        relative_to: {
          event: 'trial_started',
          where: [{ property: 'trialDays', greater_than: 0 }],
          plus_days: 'trialDays',
        },
        before: '3d',
      },
      {
        event: 'trial_expiring',
        where: [{ property: 'trialDays', at_least: 0 }],
        ends_in_days: 'trialDays',
      },
    ],
    about: { event: 'trial_started', until: ['subscription_started', 'subscription_canceled'] },
    enrollment: { once_per: 'about', otherwise: '30d' },
    exits: { events: ['subscription_started', 'subscription_canceled'] },
    priority: 90,
    holdout: 0,
    steps: [{ draft: 'trial_expiring' }],
  },
];

/** The rules with which every project starts. */
export const SHIPPED_RULES: ParsedRule[] = DOCUMENTS.map((document) => {
  const parsed = parseRule(document);
  if (!parsed.ok) throw new Error(`a shipped rule cannot be read: ${parsed.faults[0]?.message}`);
  return parsed.rule;
});
