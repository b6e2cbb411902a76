import { type BulkError, MANY_BODY_MAX_BYTES, RECORD_MAX_BYTES, REQUEST_MAX_VALUES } from '@beckon/contract';

/** A record of the upload: the caller's item, and its serialized text. */
export type Entry<Item> = { index: number; item: Item; user: string } & (
  | { text: string; bytes: number; values: number }
  | { error: BulkError }
);

export type Chunk<Item> = { first: number; entries: Entry<Item>[]; users: Set<string> };

export type Source<Item> = Iterable<Item> | AsyncIterable<Item>;
export type AboutUser = { external_user_id: string };

/** The bytes of a body other than its records and the comma after each of them. */
const AROUND_BYTES = 1_024;

/** Cuts the source into chunks that fit into one request. It reads no further than the chunk that is needed. */
export class Chunks<Item extends AboutUser> {
  readonly #items: AsyncIterator<Item> | Iterator<Item>;
  readonly #freeForm: 'traits' | 'properties';
  #read = 0;
  #left: Entry<Item> | null = null;

  constructor(source: Source<Item>, freeForm: 'traits' | 'properties') {
    this.#items = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    this.#freeForm = freeForm;
  }

  /** Returns null at the end. */
  async next(maxRecords: number): Promise<Chunk<Item> | null> {
    const entries: Entry<Item>[] = [];
    const users = new Set<string>();
    let [bytes, values] = [AROUND_BYTES, 0];
    while (entries.length < maxRecords) {
      const entry = this.#left ?? (await this.#nextEntry());
      this.#left = null;
      if (entry === null) break;
      if ('text' in entry) {
        bytes += entry.bytes + 1;
        values += entry.values;
      }
      if (bytes > MANY_BODY_MAX_BYTES || values > REQUEST_MAX_VALUES) {
        this.#left = entry;
        break;
      }
      entries.push(entry);
      users.add(entry.user);
    }
    const [head] = entries;
    return head === undefined ? null : { first: head.index, entries, users };
  }

  /** Closes the source when the upload ends before it. */
  async stop(): Promise<void> {
    await this.#items.return?.();
  }

  async #nextEntry(): Promise<Entry<Item> | null> {
    const result = this.#items.next();
    const { done, value } = 'then' in result ? await result : result;
    return done ? null : this.#entryOf(value as Item);
  }

  #entryOf(item: Item): Entry<Item> {
    const index = this.#read;
    this.#read += 1;
    const user = String((item as Partial<AboutUser> | null)?.external_user_id);
    const refuse = (message: string, field?: string): Entry<Item> => {
      const error: BulkError = { index, code: 'validation', message, ...(field ? { field } : {}) };
      return { index, item, user, error };
    };
    let text: string | undefined;
    try {
      text = JSON.stringify(item) as string | undefined;
    } catch (error) {
      // A cycle, a BigInt or an error in the record's own `toJSON`: this record cannot be sent, but the others can.
      return refuse(error instanceof Error ? error.message : String(error));
    }
    if (text === undefined) return refuse('The record cannot be written as JSON');
    const bytes = Buffer.byteLength(text);
    if (bytes <= RECORD_MAX_BYTES) return { index, item, user, text, bytes, values: mostValues(text) };
    const field = this.#freeForm;
    return refuse(`${field} makes the record larger than ${RECORD_MAX_BYTES / 1_024} KiB`, field);
  }
}

const SEPARATORS = new Set(Array.from(',:[{', (sign) => sign.charCodeAt(0)));

/**
 * Returns an upper bound of the number of values that the server counts. Each value follows a separator, and separators inside strings are
 * counted too.
 */
export function mostValues(text: string): number {
  let values = 0;
  for (let i = 0; i < text.length; i += 1) if (SEPARATORS.has(text.charCodeAt(i))) values += 1;
  return values;
}
