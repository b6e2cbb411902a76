/**
 * Limits the work of rendering one email, as a count. A clock would reject a valid email on a machine that stalls for a moment, and would
 * differ between test runs. One unit is about half a microsecond, so the total is about a tenth of a second. The shipped emails use less
 * than 1,000 units.
 */
export const WORK_MAX = 200_000;

/** The cost of one output, one tag, or one text between them. */
const PIECE_COST = 10;
export const CHARS_PER_UNIT = 16;
/** The source of a piece up to this length is part of `PIECE_COST`. */
export const PIECE_CHARS = PIECE_COST * CHARS_PER_UNIT;
/** The limit per email for characters and list items that filters and ranges create. */
const MEMORY_MAX = 1_000_000;

export const TOO_MUCH_WORK =
  'Rendering this email takes too much work. Simplify loops, comparisons or nested blocks.';

export class RenderWork {
  spent = 0;
  #memory = 0;

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

  /** Charges for characters and items before a filter or a range creates them. Too much memory counts as too much work. */
  allocate(count: number): void {
    if (!(count > 0)) return;
    this.#memory += count;
    this.charge(this.#memory > MEMORY_MAX ? Infinity : count / CHARS_PER_UNIT);
  }
}

/** Returns the cost of walking through a value once. Counting stops once it would exceed the budget of an email. */
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

/** Returns the length of the text that Liquid makes of a value. Liquid joins a list before it searches in it or formats with it. */
export function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 1;
  let length = 0;
  for (const item of value) {
    length += 1 + textLength(item);
    if (length > WORK_MAX * CHARS_PER_UNIT) break;
  }
  return length;
}

/** Returns the cost of a search for one text in another. In the worst case each position is compared up to the end of the searched text. */
export function searchCost(text: unknown, part: unknown): number {
  const [length, partLength] = [textLength(text), textLength(part)];
  return partLength > length ? 0 : (length * partLength) / 512;
}
