/** Bounds of a JSON text, checked before it is parsed. */
export type JsonBounds = {
  /** Levels of objects and arrays, the outermost included; at most 64. */
  depth: number;
  /** Values, as `JsonCounts.values` counts them. */
  values: number;
  /** Values of one item of a list that is a member of the outermost object, and of the remaining text in total. */
  valuesOfItem: number;
  scalarItems: number;
  /** Keys of one object as they were sent, so a repeated key counts each time. */
  keys: number;
  /** Characters of one number. */
  numberChars: number;
};

export type JsonCounts = {
  /**
   * The members of objects, and the strings, objects and arrays that are items of an array. Parsing builds up to a hundred bytes for
   * each, in up to a microsecond.
   */
  values: number;
  /** The numbers, booleans and nulls that are items of an array. They are cheap, so only the size of the body bounds them. */
  scalarItems: number;
};

/** The first bound that a text exceeds. `field`: the key of the outermost object whose value exceeds it, if it can be named. */
export type JsonExcess = { bound: keyof JsonBounds; field: string | null };

export type JsonScan = JsonCounts & { excess: JsonExcess | null };

/** A Buffer, or in tests an object that counts its reads. */
type Bytes = { readonly length: number; readonly [index: number]: number };

/**
 * Counts the values that `JSON.parse` would build, without building them: one pass over the bytes, without recursion and without
 * allocation. `JSON.parse` itself has no bounds: 9.5 MB of brackets take it a second and 270 MB of heap.
 *
 * The text need not be valid. Up to its first error the counts are those of the parser, which stops there.
 */
export function scanJson(bytes: Bytes, bounds: JsonBounds): JsonScan {
  const { length } = bytes;
  scan.begin(bytes, bounds);
  for (let at = 0; at < length && scan.exceeded === null; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = scan.string(at);
    else if (byte === COLON) scan.colon();
    else if (byte === COMMA) scan.comma();
    else if (byte === OPEN_OBJECT) scan.open(true);
    else if (byte === OPEN_ARRAY) scan.open(false);
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) scan.close();
    else if (byte > SPACE) at = scan.scalar(at);
  }
  return scan.end();
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const DEPTH_MAX = 64;
const LIST_DEPTH = 2;
/** Marks an array in `#keys`. */
const ARRAY = -1;
const FIELD_MAX_BYTES = 255;
const NOTHING: Bytes = Buffer.alloc(0);
const NO_BOUNDS: JsonBounds = {
  depth: 0,
  values: 0,
  valuesOfItem: 0,
  scalarItems: 0,
  keys: 0,
  numberChars: 0,
};

/** The state of a scan. A scan is synchronous, so the process needs only one. */
class Scan {
  exceeded: keyof JsonBounds | null = null;
  #bytes: Bytes = NOTHING;
  #bounds: JsonBounds = NO_BOUNDS;
  /** The number of keys of each open object so far, by depth; `ARRAY` for an array. */
  readonly #keys = new Int32Array(DEPTH_MAX + 2);
  #depth = 0;
  #inArray = false;
  #values = 0;
  #scalarItems = 0;
  /** Values of the current item of a list that is a member of the outermost object; null outside of such a list. */
  #valuesOfItem: number | null = null;
  #valuesBeside = 0;
  /** The position of the last string, without its quotes. */
  #stringFrom = 0;
  #stringTo = 0;
  /** The position of the key in the outermost object whose value is being read. */
  #fieldFrom = 0;
  #fieldTo = 0;

  begin(bytes: Bytes, bounds: JsonBounds): void {
    this.#bytes = bytes;
    this.#bounds = bounds;
    this.exceeded = null;
    this.#inArray = false;
    this.#valuesOfItem = null;
    this.#depth = this.#values = this.#scalarItems = this.#valuesBeside = 0;
    this.#stringFrom = this.#stringTo = this.#fieldFrom = this.#fieldTo = 0;
  }

  /** Returns the position at which the string ends. */
  string(quote: number): number {
    const end = stringEnd(this.#bytes, quote);
    this.#stringFrom = quote + 1;
    this.#stringTo = end;
    if (this.#inArray) this.#value();
    return end;
  }

  /** The string before the colon was a key. */
  colon(): void {
    if (this.#inArray || this.#depth === 0) return;
    this.#value();
    const keys = (this.#keys[this.#depth] ?? 0) + 1;
    this.#keys[this.#depth] = keys;
    if (keys > this.#bounds.keys) this.exceeded = 'keys';
    // An excess key is an error of the object, not of its last key.
    if (this.#depth > 1 || this.exceeded !== null) return;
    this.#fieldFrom = this.#stringFrom;
    this.#fieldTo = this.#stringTo;
  }

  comma(): void {
    if (this.#depth === 1) this.#fieldTo = this.#fieldFrom;
    else if (this.#depth === LIST_DEPTH && this.#valuesOfItem !== null) this.#valuesOfItem = 0;
  }

  open(isObject: boolean): void {
    if (this.#inArray) this.#value();
    this.#depth += 1;
    if (this.#depth > this.#bounds.depth) this.exceeded = 'depth';
    this.#keys[this.#depth] = isObject ? 0 : ARRAY;
    this.#inArray = !isObject;
    if (this.#depth === LIST_DEPTH && this.#inArray && this.#keys[1] !== ARRAY) this.#valuesOfItem = 0;
  }

  close(): void {
    if (this.#depth > 0) this.#depth -= 1;
    if (this.#depth < LIST_DEPTH) this.#valuesOfItem = null;
    this.#inArray = this.#depth > 0 && this.#keys[this.#depth] === ARRAY;
  }

  /** Skips a number or a word, and returns the position of its last byte. */
  scalar(from: number): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    let at = from + 1;
    while (at < length && isInScalar(bytes[at] as number)) at += 1;
    if (at - from > this.#bounds.numberChars && startsNumber(bytes[from])) this.exceeded = 'numberChars';
    if (this.#inArray) this.#scalarItems += 1;
    if (this.#scalarItems > this.#bounds.scalarItems) this.exceeded = 'scalarItems';
    return at - 1;
  }

  end(): JsonScan {
    const bound = this.exceeded;
    const excess = bound === null ? null : { bound, field: this.#field() };
    this.#bytes = NOTHING;
    return { values: this.#values, scalarItems: this.#scalarItems, excess };
  }

  #value(): void {
    this.#values += 1;
    let ofPiece: number;
    if (this.#valuesOfItem === null) ofPiece = this.#valuesBeside += 1;
    else ofPiece = this.#valuesOfItem += 1;
    if (this.#values > this.#bounds.values) this.exceeded = 'values';
    else if (ofPiece > this.#bounds.valuesOfItem) this.exceeded = 'valuesOfItem';
  }

  #field(): string | null {
    const [from, to] = [this.#fieldFrom, this.#fieldTo];
    if (to <= from || to - from > FIELD_MAX_BYTES) return null;
    const key = Array.from({ length: to - from }, (_, i) => this.#bytes[from + i] ?? 0);
    return key.includes(BACKSLASH) ? null : Buffer.from(key).toString();
  }
}

/** Returns the end of the string that begins at this quote: its closing quote, or the position after the last byte. */
export function stringEnd(bytes: Bytes, quote: number): number {
  const { length } = bytes;
  let at = quote + 1;
  for (; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) at += 1;
  }
  return at;
}

/** Words that are not JSON are not counted, because the parser stops there. */
function startsNumber(byte: number | undefined): boolean {
  return byte === MINUS || (byte !== undefined && byte >= ZERO && byte <= NINE);
}

/** Matches alphanumeric characters, signs and the decimal point, which do not end a number or a word. */
function isInScalar(byte: number): boolean {
  return byte > SPACE && byte !== COMMA && byte !== CLOSE_ARRAY && byte !== CLOSE_OBJECT && byte !== QUOTE;
}

const scan = new Scan();
