/**
 * Decides whether triggers may fire for a user. A suppressed batch disables them, and the next normal event enables them again. The order
 * of acceptance decides which comes last, in any order of processing:
 *
 *    suppressed  ⇔  suppressedSeq > normalSeq
 *
 * Both are the highest sequence number of their kind, but only as far as it matters. A user without a suppressed record has none, unless
 * records accepted before theirs are still waiting. An event that starts a run must have been accepted after the lift. `liveSeq` is the
 * first normal event after `suppressedSeq`, and `triggersLiveSince` is the time of its acceptance.
 */
export type Watermark = {
  suppressedSeq: number | null;
  normalSeq: number | null;
  liveSeq: number | null;
  /** In milliseconds. */
  triggersLiveSince: number | null;
};

export const SUPPRESSED_UNTIL = '9999-12-31T23:59:59.999Z';

export function isSuppressed({ suppressedSeq, normalSeq }: Watermark): boolean {
  return suppressedSeq !== null && suppressedSeq > (normalSeq ?? 0);
}
