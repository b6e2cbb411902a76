const SURROGATES_FROM = 0xd800;
const SURROGATES_TO = 0xdfff;

/**
 * Compares two texts by their UTF-8 bytes, as PostgreSQL sorts a column with COLLATE "C", and returns a negative number, 0 or a positive
 * number. `<` compares UTF-16 units, in which all characters beyond the first plane precede U+E000 to U+FFFF.
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

/** The first different unit decides. Half of a surrogate pair ranks above all single units, because its character does. */
function rank(unit: number): number {
  return unit >= SURROGATES_FROM && unit <= SURROGATES_TO ? unit + 0x10000 : unit;
}
