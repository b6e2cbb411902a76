const SURROGATES_FROM = 0xd800;
const SURROGATES_TO = 0xdfff;

/**
 * Which of two texts comes first as UTF-8 bytes, as a column with COLLATE "C" is ordered: negative, 0 or positive. `<`
 * compares UTF-16 units, in which everything beyond the first plane comes before U+E000 to U+FFFF.
 */
export function compareBytes(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i += 1) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return rank(unitA) - rank(unitB);
  }
  return a.length - b.length;
}

/** The first unit that differs decides; half of a pair stands for a character beyond all single units. */
function rank(unit: number): number {
  return unit >= SURROGATES_FROM && unit <= SURROGATES_TO ? unit + 0x10000 : unit;
}
