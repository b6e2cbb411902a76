import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../platform/text/canonical-json.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';
import type { Steps } from '../../../platform/time/steps.ts';

export type FingerprintOf = {
  path: string;
  body: unknown;
  /** The body as received, for bodies that are nested too deeply to be serialized. */
  raw: Uint8Array;
  /** Ignore key order, white space and escapes. For long bodies key order counts, because sorting would cost more than everything else. */
  canonical: boolean;
  /** The whole body passed validation, so JSON can represent every number in it. */
  sound: boolean;
  /** The compact JSON text of the body in pieces, if parsing created them. */
  compact?: readonly string[] | null;
};

/** Hashes the method, the path and a normalized form of the body. Requests with the same fingerprint have the same body. */
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
    // Only a body that is deeper or wider than any valid one gets here, so a hash of its bytes is enough.
    if (error instanceof RangeError) return sha256(`${head}raw ${sha256(of.raw)}`);
    throw error;
  }
}

/** Hashing this much text takes about 2 ms. A body of 10 MiB took 70 ms in one step. */
const LENGTH_PER_STEP = 256 * 1024;

function piecesOf({ body, sound, compact }: FingerprintOf): Iterable<string> {
  return compact ?? writeInPieces(body, sound ? undefined : spellNumber);
}

type Replacer = (key: string, value: unknown) => unknown;

/** Writes the same text as `JSON.stringify`, with a piece for each element of a list in the body. */
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

/**
 * Distinguishes infinite numbers. 1e400 is parsed as infinite and would be written as null, which is another value. No valid text starts
 * with this character.
 */
function spellNumber(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? `\ud800${value}` : value;
}
