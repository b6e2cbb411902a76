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

export type WatermarkEvent = { suppressed: boolean; seq: number; acceptedAt: number; olderWaits: boolean };

export const SUPPRESSED_UNTIL = '9999-12-31T23:59:59.999Z';

export function isSuppressed({ suppressedSeq, normalSeq }: Watermark): boolean {
  return suppressedSeq !== null && suppressedSeq > (normalSeq ?? 0);
}

/** Applies an event and returns whether it changed anything. */
export function moveWatermark(mark: Watermark, event: WatermarkEvent): boolean {
  return event.suppressed ? suppress(mark, event.seq) : lift(mark, event);
}

function suppress(mark: Watermark, seq: number): boolean {
  if (seq <= (mark.suppressedSeq ?? 0)) return false;
  mark.suppressedSeq = seq;
  // A lift after the new sequence number is still the first one. An earlier one no longer counts.
  if (mark.liveSeq !== null && mark.liveSeq < seq) {
    mark.liveSeq = null;
    mark.triggersLiveSince = null;
  }
  return true;
}

function lift(mark: Watermark, { seq, acceptedAt, olderWaits }: WatermarkEvent): boolean {
  let moved = false;
  const decides = isSuppressed(mark) || olderWaits;
  if (decides && seq > (mark.normalSeq ?? 0)) {
    mark.normalSeq = seq;
    moved = true;
  }
  if (mark.suppressedSeq !== null && seq > mark.suppressedSeq && seq < (mark.liveSeq ?? Infinity)) {
    mark.liveSeq = seq;
    mark.triggersLiveSince = acceptedAt;
    moved = true;
  }
  return moved;
}

/**
 * Returns whether the first normal event after `suppressedSeq` was processed before and has to be looked up. This happens when a late
 * suppression passes the known lift, and only the highest sequence number of later normal events is known.
 */
export function liftIsUnknown({ suppressedSeq, normalSeq, liveSeq }: Watermark): boolean {
  return suppressedSeq !== null && liveSeq === null && (normalSeq ?? 0) > suppressedSeq;
}
