import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/hash.ts';

export type FingerprintOf = {
  path: string;
  body: unknown;
  /** The body as it came, for shapes that no serialiser gets to the bottom of. */
  raw: Uint8Array;
  /** Key order, white space and escapes do not matter; on long bodies, where sorting costs more than all the rest, key order does. */
  canonical: boolean;
  /** Nothing in the body was refused, so every number in it is one that JSON can write. */
  sound: boolean;
  /** The body's compact JSON text, where somebody has it already. */
  compact?: string | null;
};

/** What "the same body" means: method, path, and a form of the parsed JSON. */
export function fingerprint(of: FingerprintOf): string {
  return sha256(`POST ${of.path}\n${textOf(of)}`);
}

function textOf({ body, raw, canonical, sound, compact }: FingerprintOf): string {
  try {
    if (canonical) return canonicalJson(body);
    if (compact) return compact;
    return sound ? JSON.stringify(body) : JSON.stringify(body, spellNumber);
  } catch (error) {
    // Only a body deeper or wider than any that can ever be accepted ends here: its form need only be its own.
    if (error instanceof RangeError) return `raw ${sha256(raw)}`;
    throw error;
  }
}

/** 1e400 is read as infinite and would be written as null, which is another value. No valid text begins like this. */
function spellNumber(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? `\ud800${value}` : value;
}
