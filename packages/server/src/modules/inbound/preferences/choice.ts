import type { UnsubscribeMethod } from '@beckon/contract';

/** The periods in days for which a recipient can pause emails. */
export const SNOOZE_DAYS = [30, 60, 90] as const;
export type SnoozeDays = (typeof SNOOZE_DAYS)[number];

/** A decision of a recipient, made through an email that they received. */
export type Choice =
  | { kind: 'unsubscribe'; method: Exclude<UnsubscribeMethod, 'complaint'> }
  /** Reverts earlier choices and a complaint. A bounced address is not affected. */
  | { kind: 'resubscribe' }
  /** The project's topics that the recipient does not want; all others are wanted. */
  | { kind: 'topics'; refused: string[] }
  | { kind: 'snooze'; days: SnoozeDays };
