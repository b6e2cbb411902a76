import type { SuppressionReasonName } from '@beckon/contract/dashboard';

type ClearKind = 'email' | 'user';
/** Rows about an erased user, whose address or id is kept only as a keyed hash. */
export type HashedKind = 'email_hash' | 'user_hash';
export type SuppressedKind = ClearKind | HashedKind;

export type SuppressionTarget = { projectId: number; kind: SuppressedKind; value: string };
export type ClearTarget = SuppressionTarget & { kind: ClearKind };
export type HashedTarget = SuppressionTarget & { kind: HashedKind };

export const HASHED_KINDS = ['email_hash', 'user_hash'] as const satisfies HashedKind[];

export type SuppressionReason = SuppressionReasonName;
