import { stringEnd } from './json-scan.ts';
import { parseJson } from './parse-json.ts';

export type Pieces = {
  /** The depth of the lists that are parsed in pieces: 1 if the text is a list, 2 for lists in an object. */
  listDepth: 1 | 2;
  /** Waited for after each piece. */
  pause: () => Promise<void>;
};

/**
 * Parses like `JSON.parse`, with pauses. Parsing takes up to a microsecond for each key. So a text of a few MiB with many different keys
 * would block the thread for half a second.
 *
 * Lists are cut at their own commas, and each list is replaced by its number in the surrounding text. The whole text is valid exactly if
 * that text and all pieces are.
 */
export async function parseInPieces(bytes: Buffer, { listDepth, pause }: Pieces): Promise<unknown> {
  const { around, lists } = cut(bytes, listDepth);
  const parsed = parseJson(around);
  const items: unknown[][] = [];
  for (const cuts of lists) {
    const values: unknown[] = [];
    for (let i = 1; i < cuts.length; i += 1) {
      const piece = parsePiece(bytes, (cuts[i - 1] ?? 0) + 1, cuts[i] ?? 0);
      // A piece between two commas must not be empty; only a whole list can be.
      if (piece.length === 0 && cuts.length > 2) throw new SyntaxError('a list with a comma too many');
      for (const value of piece) values.push(value);
      await pause();
    }
    items.push(values);
  }
  return listDepth === 1 ? listOf(parsed, items) : withLists(parsed, items);
}

/** Parsing this many bytes takes about 10 ms, whatever they contain. */
const PIECE_BYTES = 64 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function parsePiece(bytes: Buffer, from: number, to: number): unknown[] {
  return parseJson(`[${bytes.toString('utf8', from, to)}]`) as unknown[];
}

/** The positions at which a list is cut: its brackets, and commas between its items. */
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
  /** Start of the surrounding text that is not copied yet. */
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
    // The bracket belongs to the surrounding text, because it may be of the wrong kind.
    this.#from = at;
  }

  comma(at: number): void {
    if (this.#depth !== this.#listDepth || !this.#list) return;
    if (at - (this.#list.at(-1) ?? 0) >= PIECE_BYTES) this.#list.push(at);
  }

  /** An unterminated list leaves the surrounding text unterminated. */
  end(): { around: string; lists: Cuts[] } {
    if (!this.#list) this.#around.push(this.#bytes.toString('utf8', this.#from));
    return { around: this.#around.join(''), lists: this.#lists };
  }
}

/** A number in a list is replaced by the list with that number. Any other value is returned unchanged. */
function listOf(value: unknown, items: unknown[][]): unknown {
  const [index] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof index === 'number' ? items[index] : value;
}

function withLists(value: unknown, items: unknown[][]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const object = value as Record<string, unknown>;
  // Keys keep their order, and `__proto__` stays an own key, which an assignment would change.
  for (const key of Object.keys(object))
    if (Array.isArray(object[key])) Object.defineProperty(object, key, { value: listOf(object[key], items) });
  return object;
}
