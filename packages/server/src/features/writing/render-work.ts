/**
 * How much work one email may take to render, counted. A clock would refuse an honest email on a machine that stands still
 * for a moment, and would not be the same in a test. One unit is about half a microsecond, so the whole is about a tenth of a
 * second. The emails that ship use less than 1,000 units.
 */
export const WORK_MAX = 200_000;

/** Of one output, tag or text between them. */
const PIECE_COST = 10;
const CHARS_PER_UNIT = 16;

export const TOO_MUCH_WORK =
  'Rendering this email takes too much work. Simplify loops, comparisons or nested blocks.';

export class RenderWork {
  spent = 0;

  get isExceeded(): boolean {
    return this.spent > WORK_MAX;
  }

  chargePiece(): void {
    this.charge(PIECE_COST);
  }

  charge(units: number): void {
    this.spent += units;
    if (this.isExceeded) throw new RangeError(TOO_MUCH_WORK);
  }
}

/** What it takes to walk through a value once. Counting stops where the budget of an email would be exceeded. */
export function costOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / CHARS_PER_UNIT;
  if (!Array.isArray(value)) return 1;
  let cost = 1;
  for (const item of value) {
    cost += costOf(item);
    if (cost > WORK_MAX) break;
  }
  return cost;
}

/** What it takes to look for one text in another: in the worst case each place is compared up to the end of what is looked for. */
export function searchCost(text: unknown, part: unknown): number {
  if (typeof text !== 'string' || typeof part !== 'string' || part.length > text.length) return 0;
  return (text.length * part.length) / 512;
}
