/** Beckon sends nothing to this address (`email`), for any user, or to this user (`user`), at any address. */
export type Suppression = {
  projectId: number;
  kind: SuppressedKind;
  /** A normalized address, a user id, or the hash of one of them. */
  value: string;
  reason: SuppressionReason;
  /** When it ends, in milliseconds. Null: it does not end automatically. */
  until: number | null;
  createdAt: number;
  /** A member, `operator`, or `engine`. */
  createdBy: string;
};

/** A row as it is stored. `fromErased`: it was made for a user who has been erased since. */
export type StoredSuppression = Suppression & { fromErased?: boolean };

export type ClearKind = 'email' | 'user';
/** Rows about an erased user, whose address or id is kept only as a keyed hash. */
export type HashedKind = 'email_hash' | 'user_hash';
export type SuppressedKind = ClearKind | HashedKind;

export type SuppressedPlace = { projectId: number; kind: SuppressedKind; value: string };
export type ClearPlace = SuppressedPlace & { kind: ClearKind };
export type HashedPlace = SuppressedPlace & { kind: HashedKind };

export const HASHED_KINDS = ['email_hash', 'user_hash'] as const satisfies HashedKind[];

export function isHashed(kind: SuppressedKind): kind is HashedKind {
  return kind === 'email_hash' || kind === 'user_hash';
}

/** Returns whether a row is about an address, in plain text or hashed; otherwise it is about a user. */
export function isAboutAddress(kind: SuppressedKind): boolean {
  return kind === 'email' || kind === 'email_hash';
}

export type SuppressionReason =
  | 'hard_bounce'
  | 'soft_bounces'
  | 'complained'
  | 'unsubscribed'
  | 'snoozed'
  | 'manual';

/** All reasons, those that express the recipient's will most clearly first. */
export const SUPPRESSION_REASONS = [
  'unsubscribed',
  'complained',
  'manual',
  'hard_bounce',
  'soft_bounces',
  'snoozed',
] as const satisfies SuppressionReason[];

/** Reasons that come from bounces. Evidence that the mailbox works lifts them, so they must not replace the recipient's own choice. */
export const LIFTED_BY_LIFE = ['hard_bounce', 'soft_bounces'] as const satisfies SuppressionReason[];

/** Reasons that come from recipients, who can undo them. No other reason may replace them. */
export const SAID_BY_RECIPIENT = [
  'unsubscribed',
  'complained',
  'snoozed',
] as const satisfies SuppressionReason[];
