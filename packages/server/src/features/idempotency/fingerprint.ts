import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/hash.ts';

export type FingerprintOf = {
  path: string;
  body: unknown;
  /** The body as it came, for shapes that no serialiser gets to the bottom of. */
  raw: Uint8Array;
  /** Key order, white space and escapes do not matter; on long bodies, where sorting costs more than all the rest, key order does. */
  canonical: boolean;
};

/** What "the same body" means: method, path, and a form of the parsed JSON. */
export function fingerprint({ path, body, raw, canonical }: FingerprintOf): string {
  return sha256(`POST ${path}\n${textOf({ path, body, raw, canonical })}`);
}

function textOf({ body, raw, canonical }: FingerprintOf): string {
  try {
    return canonical ? canonicalJson(body) : JSON.stringify(body);
  } catch (error) {
    // Only a body nested beyond the stack ends here. It can never be accepted, so its form need only be its own.
    if (error instanceof RangeError) return `raw ${sha256(raw)}`;
    throw error;
  }
}
