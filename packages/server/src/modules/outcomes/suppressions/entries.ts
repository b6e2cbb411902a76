import type { SuppressedKind, SuppressionReason, HashedKind } from '../../sending/index.ts';

export { SUPPRESSION_REASONS } from '@beckon/contract/dashboard';

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

export function isHashed(kind: SuppressedKind): kind is HashedKind {
  return kind === 'email_hash' || kind === 'user_hash';
}

/** Returns whether a row is about an address, in plain text or hashed; otherwise it is about a user. */
export function isAboutAddress(kind: SuppressedKind): boolean {
  return kind === 'email' || kind === 'email_hash';
}

/** Reasons that come from bounces. Evidence that the mailbox works lifts them, so they must not replace the recipient's own choice. */
export const BOUNCE_REASONS = ['hard_bounce', 'soft_bounces'] as const satisfies SuppressionReason[];

/** Reasons that come from recipients, who can undo them. No other reason may replace them. */
export const RECIPIENT_REASONS = [
  'unsubscribed',
  'complained',
  'snoozed',
] as const satisfies SuppressionReason[];

/**
 * Merges the entries of a place. There are three sides (the recipient, the team and the mail servers), and none can lift another side's
 * entry. So a place keeps the strongest entry of each side. The one that lasts longest is in the row itself; of equal ones the recipient's
 * comes first, then the team's. The others are in `weaker_entries`, strongest first. This is implemented twice: here for entries that arrive
 * together, and in SQL for stored ones.
 */
export function strongestOfSides(entries: Suppression[]): Suppression[] {
  const sorted = entries.toSorted((a, b) => Number(isStronger(b, a)) - Number(isStronger(a, b)));
  return sorted.filter(
    ({ reason }, at) => sorted.findIndex((entry) => sideRank(entry.reason) === sideRank(reason)) === at,
  );
}

function isStronger(entry: Suppression, other: Suppression): boolean {
  const [a, b] = [entry.until ?? Infinity, other.until ?? Infinity];
  return a > b || (a === b && sideRank(entry.reason) > sideRank(other.reason));
}

/**
 * Returns the rank of a side, which also identifies it. Lifting another entry must not undo a recipient's choice, and bounces are lifted
 * most easily.
 */
function sideRank(reason: SuppressionReason): number {
  if (RECIPIENT_REASONS.some((entry) => entry === reason)) return 2;
  return BOUNCE_REASONS.some((entry) => entry === reason) ? 0 : 1;
}

const list = (reasons: readonly string[]): string => `('${reasons.join("', '")}')`;

const REASON = `word->>'reason'`;

const WORTH = `CASE WHEN ${REASON} IN ${list(RECIPIENT_REASONS)} THEN 2 WHEN ${REASON} IN ${list(BOUNCE_REASONS)} THEN 0 ELSE 1 END`;

const END = `(word->>'until')::timestamptz`;

/** Returns all entries of a row as a jsonb list, the one in force first. */
export function entriesSql(row: string): string {
  const front = `jsonb_build_object('reason', ${row}.reason, 'until', ${row}.until, 'created_at', ${row}.created_at, 'created_by', ${row}.created_by)`;
  return `(jsonb_build_array(${front}) || coalesce(${row}.weaker_entries, '[]'))`;
}

/** Merges two rows of one place. If entries are equally strong, the first row's stays. */
export function mergedSql(first: string, second: string): string {
  return `(SELECT jsonb_agg(word ORDER BY ${END} DESC NULLS FIRST, ${WORTH} DESC) FROM (
      SELECT DISTINCT ON (${WORTH}) word
      FROM jsonb_array_elements(${entriesSql(first)} || ${entriesSql(second)}) WITH ORDINALITY AS entry(word, n)
      ORDER BY ${WORTH}, ${END} DESC NULLS FIRST, n) strongest)`;
}

/** The columns in the order in which `entrySql` returns them. */
export const ENTRY_COLUMNS = 'reason, until, created_at, created_by';

export function entrySql(word: string): string {
  return `${word}->>'reason', (${word}->>'until')::timestamptz, (${word}->>'created_at')::timestamptz, ${word}->>'created_by'`;
}

/** Sets a row to these entries. */
export function setSql(words: string): string {
  return `(${ENTRY_COLUMNS}, weaker_entries) = (SELECT ${entrySql('words->0')}, nullif(words - 0, '[]') FROM (SELECT ${words} AS words) these)`;
}
