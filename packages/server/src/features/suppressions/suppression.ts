/** To whom nothing is sent: an address, whoever has it, or a person, whatever their address. */
export type Suppression = {
  projectId: number;
  kind: SuppressedKind;
  /** A normalised address, or the id of a person. */
  value: string;
  reason: SuppressionReason;
  /** When it ends, in milliseconds; null: not by itself. */
  until: number | null;
  createdAt: number;
  /** A person of the team, `operator`, or the engine itself. */
  createdBy: string;
};

export type SuppressedKind = 'address' | 'person';

export type SuppressionReason =
  | 'hard_bounce'
  | 'soft_bounces'
  | 'complained'
  | 'unsubscribed'
  | 'snoozed'
  | 'manual';

/** All of them, the one that says most about what its recipient wants first. */
export const SUPPRESSION_REASONS = [
  'unsubscribed',
  'complained',
  'manual',
  'hard_bounce',
  'soft_bounces',
  'snoozed',
] as const satisfies SuppressionReason[];

/** What letters that came back tell: a sign of life lifts it, so it must not stand in the place of what the person said. */
export const LIFTED_BY_LIFE = ['hard_bounce', 'soft_bounces'] as const satisfies SuppressionReason[];

/** What recipients said themselves, and may take back themselves. Nobody else's reason may stand in its place. */
export const SAID_BY_RECIPIENT = [
  'unsubscribed',
  'complained',
  'snoozed',
] as const satisfies SuppressionReason[];
