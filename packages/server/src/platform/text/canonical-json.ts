import { JSON_MAX_ARRAY_ITEMS, JSON_MAX_DEPTH, JSON_MAX_OBJECT_KEYS } from '@beckon/contract';

/**
 * Serializes by RFC 8785: equal JSON values give the same text. The order of keys, the white space and the escapes of the input have no
 * effect. Numbers and strings are written as ECMAScript writes them, as the RFC requires.
 *
 * Throws a RangeError beyond the shapes that a record may have. A deeper or wider value is never stored, and sorting it would let a
 * stranger cause work.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return scalarJson(value);
  if (depth > JSON_MAX_DEPTH) throw new RangeError('nested too deep');
  if (Array.isArray(value) && value.length > JSON_MAX_ARRAY_ITEMS) throw new RangeError('too many items');
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(',')}]`;
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  if (keys.length > JSON_MAX_OBJECT_KEYS) throw new RangeError('too many keys');
  if (!isSorted(keys)) keys.sort();
  let text = '{';
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i] as string;
    text += `${i === 0 ? '' : ','}${JSON.stringify(key)}:${canonicalJson(object[key], depth + 1)}`;
  }
  return `${text}}`;
}

/** Most clients build their bodies with one piece of code, often in sorted order. */
function isSorted(keys: string[]): boolean {
  for (let i = 1; i < keys.length; i += 1) if ((keys[i - 1] as string) > (keys[i] as string)) return false;
  return true;
}

/** A number beyond a double is parsed as infinite and would be written as null, which is another value. */
function scalarJson(value: unknown): string {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : JSON.stringify(value);
}
