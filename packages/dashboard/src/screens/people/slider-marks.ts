const MARKS = 4;

/** Times at equal distances from the first to the last. */
export function marksBetween(first: number, last: number): number[] {
  if (last <= first) return [first];
  return Array.from({ length: MARKS }, (_, at) => Math.round(first + ((last - first) * at) / (MARKS - 1)));
}

export function clampTo(value: number, { min, max }: { min: number; max: number }): number {
  return Math.min(max, Math.max(min, value));
}
