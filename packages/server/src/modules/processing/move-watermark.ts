import { type Watermark, isSuppressed } from '../users/index.ts';

type WatermarkEvent = { suppressed: boolean; seq: number; acceptedAt: number; olderWaits: boolean };

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
