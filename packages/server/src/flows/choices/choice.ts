import type { UnsubscribeMethod } from '@beckon/contract';

/** For how many days somebody may want to hear nothing. */
export const SNOOZE_DAYS = [30, 60, 90] as const;
export type SnoozeDays = (typeof SNOOZE_DAYS)[number];

/** What a recipient decides, by a letter that they got. */
export type Choice =
  | { kind: 'unsubscribe'; method: Exclude<UnsubscribeMethod, 'complaint'> }
  /** Takes back what they chose before, and a complaint; an address that takes no letters is none of it. */
  | { kind: 'resubscribe' }
  /** Of the topics that the project has, those that they want no letters about; all others are wanted. */
  | { kind: 'topics'; refused: string[] }
  | { kind: 'snooze'; days: SnoozeDays };
