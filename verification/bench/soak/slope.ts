import { median } from '../measure.ts';

/**
 * Computes the slope through noisy points by Theil and Sen, the median of the slopes of all pairs. It also returns the upper bound of the
 * 95 % interval by Kendall's variance. A single late garbage collection affects neither.
 */
export function theilSen(points: [x: number, y: number][]): { slope: number; upper: number } {
  const slopes = points
    .flatMap(([x, y], at) => points.slice(at + 1).map(([x2, y2]) => (y2 - y) / (x2 - x)))
    .toSorted((a, b) => a - b);
  const n = points.length;
  const spread = 1.96 * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const at = Math.min(slopes.length - 1, Math.ceil((slopes.length + spread) / 2));
  return { slope: median(slopes), upper: slopes[at] ?? Number.NaN };
}
