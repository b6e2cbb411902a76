import { stringEnd } from './json-scan.ts';

export type Pieces = {
  /**
   * How deep the lists are that are parsed in pieces: 1 where the text is a list, 2 for the lists that are members of an object.
   */
  listDepth: 1 | 2;
  /** Waited for after each piece. */
  pause: () => Promise<void>;
};

/**
 * Parses as `JSON.parse` does, with pauses. Parsing takes up to a microsecond for each key, so a text of a few MiB with many different
 * keys would keep the thread for half a second.
 *
 * Lists are cut at commas of their own, and each is replaced by its number in the text around them. The whole text is valid
 * exactly where that text and all pieces are.
 */
export async function parseInPieces(bytes: Buffer, { listDepth, pause }: Pieces): Promise<unknown> {
  const { around, lists } = cut(bytes, listDepth);
  const parsed: unknown = JSON.parse(around);
  const items: unknown[][] = [];
  for (const cuts of lists) {
    const values: unknown[] = [];
    for (let i = 1; i < cuts.length; i += 1) {
      const some = parsePiece(bytes, (cuts[i - 1] ?? 0) + 1, cuts[i] ?? 0);
      // Between two commas something has to be; only a whole list can be empty.
      if (some.length === 0 && cuts.length > 2) throw new SyntaxError('a list with a comma too many');
      for (const value of some) values.push(value);
      await pause();
    }
    items.push(values);
  }
  return listDepth === 1 ? listOf(parsed, items) : withLists(parsed, items);
}

/** Parsing so many bytes takes some 10 ms, whatever they are. */
const PIECE_BYTES = 64 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function parsePiece(bytes: Buffer, from: number, to: number): unknown[] {
  return JSON.parse(`[${bytes.toString('utf8', from, to)}]`) as unknown[];
}

/** Where a list is cut: at its brackets, and at commas between its items. */
type Cuts = number[];

function cut(bytes: Buffer, listDepth: number): { around: string; lists: Cuts[] } {
  const cutter = new Cutter(bytes, listDepth);
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if (byte === COMMA) cutter.comma(at);
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) cutter.open(at, byte === OPEN_ARRAY);
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) cutter.close(at);
  }
  return cutter.end();
}

class Cutter {
  readonly #bytes: Buffer;
  readonly #listDepth: number;
  readonly #lists: Cuts[] = [];
  readonly #around: string[] = [];
  /** From where on the text around lists is not kept yet. */
  #from = 0;
  #depth = 0;
  #isInObject = false;
  #list: Cuts | null = null;

  constructor(bytes: Buffer, listDepth: number) {
    this.#bytes = bytes;
    this.#listDepth = listDepth;
  }

  open(at: number, isArray: boolean): void {
    this.#depth += 1;
    if (this.#depth === 1) this.#isInObject = !isArray;
    const isList = isArray && this.#depth === this.#listDepth;
    if (!isList || this.#isInObject !== (this.#listDepth === 2)) return;
    this.#around.push(this.#bytes.toString('utf8', this.#from, at + 1), String(this.#lists.length));
    this.#list = [at];
    this.#lists.push(this.#list);
  }

  close(at: number): void {
    this.#depth -= 1;
    if (this.#depth >= this.#listDepth || !this.#list) return;
    this.#list.push(at);
    this.#list = null;
    // The bracket stays with the text around: it may be of the wrong kind.
    this.#from = at;
  }

  comma(at: number): void {
    if (this.#depth !== this.#listDepth || !this.#list) return;
    if (at - (this.#list.at(-1) ?? 0) >= PIECE_BYTES) this.#list.push(at);
  }

  /** A list without an end leaves the text around without one. */
  end(): { around: string; lists: Cuts[] } {
    if (!this.#list) this.#around.push(this.#bytes.toString('utf8', this.#from));
    return { around: this.#around.join(''), lists: this.#lists };
  }
}

/** The number in a list stands for the list; anything else is what it is. */
function listOf(value: unknown, items: unknown[][]): unknown {
  const [place] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof place === 'number' ? items[place] : value;
}

function withLists(value: unknown, items: unknown[][]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const object = value as Record<string, unknown>;
  // Keys keep their order, and `__proto__` stays a key of its own, which an assignment would not leave it.
  for (const key of Object.keys(object))
    if (Array.isArray(object[key])) Object.defineProperty(object, key, { value: listOf(object[key], items) });
  return object;
}
