/**
 * How much work one email may take to render, counted. A clock would refuse an honest email on a machine that stands still
 * for a moment, and would not be the same in a test. One unit is about half a microsecond, so the whole is about a tenth of a
 * second. The emails that ship use less than 1,000 units.
 */
export const WORK_MAX = 200_000;

/** Of one output, tag or text between them. */
const PIECE_COST = 10;
export const CHARS_PER_UNIT = 16;
/** The source of a piece up to this length is part of `PIECE_COST`. */
export const PIECE_CHARS = PIECE_COST * CHARS_PER_UNIT;
/** Of one email, in characters and list items that filters and ranges create. */
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

/** The length of the text that Liquid makes of a value. Liquid joins a list before it searches in it or formats with it. */
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

/** The cost of a search for one text in another. In the worst case each place is compared up to the end of the searched text. */
export function searchCost(text: unknown, part: unknown): number {
  const [length, partLength] = [textLength(text), textLength(part)];
  return partLength > length ? 0 : (length * partLength) / 512;
}
