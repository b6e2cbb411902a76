import type { DraftCounts, DraftListed } from '@beckon/contract/dashboard';
import { isHeld } from './groups.ts';

/** Held drafts with the same reason, as one row of the list. */
export type Fold = {
  reason: string;
  rows: DraftListed[];
  /** The number of drafts in Review with this reason, also of those that are not loaded. */
  count: number;
  isOpen: boolean;
  /** The reason ends only by an action, so skipping all is the usual decision. */
  needsAction: boolean;
};

export type Folding = {
  heldBy: DraftCounts['held_by'];
  /** What the member opened or closed. */
  toggled: ReadonlyMap<string, boolean>;
  /** The draft in the URL: its fold is open. */
  named: string | undefined;
};

/** Fewer drafts are easier to read than a fold. */
const FOLDED_FROM = 3;

/** Returns the folds of a list by reason. A list of one fold alone starts open. */
export function foldsOf(rows: DraftListed[], folding: Folding): ReadonlyMap<string, Fold> {
  const byReason = new Map<string, DraftListed[]>();
  for (const row of rows) {
    if (row.reason === null || !isHeld(row)) continue;
    const before = byReason.get(row.reason);
    if (before) before.push(row);
    else byReason.set(row.reason, [row]);
  }
  const folded = [...byReason].filter(([, held]) => held.length >= FOLDED_FROM);
  const isAlone = folded.length === 1 && folded[0]?.[1].length === rows.length;
  return new Map(
    folded.map(([reason, held]) => [
      reason,
      {
        reason,
        rows: held,
        count: Math.max(held.length, folding.heldBy.find((by) => by.reason === reason)?.drafts ?? 0),
        isOpen: held.some(({ id }) => id === folding.named) || (folding.toggled.get(reason) ?? isAlone),
        needsAction: held.every(({ held_until: until }) => until === null),
      },
    ]),
  );
}

/** Returns the fold that a row belongs to. */
export function foldOf(row: DraftListed, folds: ReadonlyMap<string, Fold>): Fold | undefined {
  return row.reason !== null && isHeld(row) ? folds.get(row.reason) : undefined;
}

/** Returns the filter of all drafts in a fold, within the filter of the list. */
export function filterOfFold({ reason }: Pick<Fold, 'reason'>, filter: string | undefined): string {
  return [`state:held reason:${reason}`, ...(filter === undefined ? [] : [filter])].join(' ');
}

const WORDS: Record<string, string> = {
  no_address: 'without an address',
  suppressed: 'to suppressed addresses',
  topic_unsubscribed: 'to users who unsubscribed from the topic',
  needs_review: 'whose conditions are no longer met',
  missing_variable: 'with a missing value',
  render_failed: 'that cannot be rendered',
  quiet_hours: 'held by quiet hours',
  frequency_cap: 'held by the frequency cap',
  frequency_cap_yielded: 'behind an email with higher priority',
  warmup: 'held by warm-up',
  rule_off: 'of disabled rules',
  paused: 'held while sending is paused',
  replied: 'to users who replied',
};

/** "16 without an address". */
export function foldWords({ reason, count }: Pick<Fold, 'reason' | 'count'>): string {
  const words = Object.hasOwn(WORDS, reason) ? WORDS[reason] : `held: ${reason.replaceAll('_', ' ')}`;
  return `${count.toLocaleString('en-GB')} ${words ?? ''}`;
}
