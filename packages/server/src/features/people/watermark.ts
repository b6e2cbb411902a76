/**
 * Whether triggers may fire for a person. A suppressed batch says no, the next normal event says yes again; which is the
 * last word is decided by accept order, in whatever order they are digested.
 *
 *   suppressed  ⇔  suppressedSeq > normalSeq
 *
 * Both are the highest sequence of their kind, but only as far as that decides anything: a person nobody ever suppressed
 * has none, unless records accepted before theirs still wait. What starts a run must have been accepted after the
 * lift: `liveSeq` is the first normal event behind `suppressedSeq`, `triggersLiveSince` the moment of its acceptance.
 */
export type Watermark = {
  suppressedSeq: number | null;
  normalSeq: number | null;
  liveSeq: number | null;
  /** Milliseconds. */
  triggersLiveSince: number | null;
};

export type WatermarkEvent = { suppressed: boolean; seq: number; acceptedAt: number; olderWaits: boolean };

export const SUPPRESSED_UNTIL = '9999-12-31T23:59:59.999Z';

export function isSuppressed({ suppressedSeq, normalSeq }: Watermark): boolean {
  return suppressedSeq !== null && suppressedSeq > (normalSeq ?? 0);
}

/** Takes one event in; true if that moved anything. */
export function moveWatermark(mark: Watermark, event: WatermarkEvent): boolean {
  return event.suppressed ? suppress(mark, event.seq) : lift(mark, event);
}

function suppress(mark: Watermark, seq: number): boolean {
  if (seq <= (mark.suppressedSeq ?? 0)) return false;
  mark.suppressedSeq = seq;
  // A lift behind the new sequence is still the first; an earlier one is none any more.
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
 * Whether the first normal event behind `suppressedSeq` is one that was digested before, and has to be looked up: a late
 * suppression moved past the known lift, and a normal event behind it is known by its highest sequence alone.
 */
export function liftIsUnknown({ suppressedSeq, normalSeq, liveSeq }: Watermark): boolean {
  return suppressedSeq !== null && liveSeq === null && (normalSeq ?? 0) > suppressedSeq;
}
