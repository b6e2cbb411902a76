type Box = { width: number; height: number };
export type Bar = Box & { x: number; y: number };

/** The share of a slot that its bar fills. */
const FILLED = 0.72;
/** A day with one email is visible beside one with a thousand. */
const LEAST_PX = 2;

/** Bars of the counts with a common scale from 0, each in a slot of the same width. */
export function barsOf(counts: number[], { width, height }: Box): Bar[] {
  const most = Math.max(1, ...counts);
  const slot = width / Math.max(1, counts.length);
  return counts.map((count, at) => {
    const of = count === 0 ? 0 : Math.max(LEAST_PX, (count / most) * height);
    return { x: round(at * slot), y: round(height - of), width: round(slot * FILLED), height: round(of) };
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
