import { createHash } from 'node:crypto';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/hash.ts';
import type { Steps } from '../../base/steps.ts';

export type FingerprintOf = {
  path: string;
  body: unknown;
  /** The body as it was received, for bodies that are too deep to be written again. */
  raw: Uint8Array;
  /** Key order, white space and escapes do not matter. In long bodies key order does, because sorting would cost more than all the rest. */
  canonical: boolean;
  /** Nothing in the body was refused, so every number in it is one that JSON can write. */
  sound: boolean;
  /** The body's compact JSON text in pieces, where reading the body made them. */
  compact?: readonly string[] | null;
};

/** The fingerprint of method, path and a form of the parsed JSON: requests with the same one have the same body. */
export function* fingerprint(of: FingerprintOf): Steps<string> {
  const head = `POST ${of.path}\n`;
  try {
    // Bodies of one record are small and many: hashing one in a single call costs less.
    if (of.canonical) return sha256(head + canonicalJson(of.body));
    const hash = createHash('sha256').update(head);
    let length = 0;
    for (const piece of piecesOf(of)) {
      hash.update(piece);
      length += piece.length;
      if (length < LENGTH_PER_STEP) continue;
      yield;
      length = 0;
    }
    return hash.digest('hex');
  } catch (error) {
    // Only a body that is deeper or wider than any valid one ends here, so its bytes are enough.
    if (error instanceof RangeError) return sha256(`${head}raw ${sha256(of.raw)}`);
    throw error;
  }
}

/** So much text takes some 2 ms. The text of a body of 10 MiB took 70 ms at once. */
const LENGTH_PER_STEP = 256 * 1024;

function piecesOf({ body, sound, compact }: FingerprintOf): Iterable<string> {
  return compact ?? writeInPieces(body, sound ? undefined : spellNumber);
}

type Replacer = (key: string, value: unknown) => unknown;

/** What `JSON.stringify` writes, with a piece for each element of a list in the body. */
function* writeInPieces(body: unknown, replacer: Replacer | undefined): Generator<string, void, void> {
  if (!isObject(body)) return yield JSON.stringify(body, replacer);
  let before = '{';
  for (const [key, value] of Object.entries(body)) {
    yield `${before}${JSON.stringify(key)}:`;
    yield* Array.isArray(value) ? writeList(value, replacer) : [JSON.stringify(value, replacer)];
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

function* writeList(list: unknown[], replacer: Replacer | undefined): Generator<string, void, void> {
  let before = '[';
  for (const item of list) {
    yield `${before}${JSON.stringify(item, replacer)}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** 1e400 is read as infinite and would be written as null, which is another value. No valid text begins like this. */
function spellNumber(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? `\ud800${value}` : value;
}
