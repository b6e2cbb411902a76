import { JSON_MAX_ARRAY_ITEMS, JSON_MAX_DEPTH, JSON_MAX_OBJECT_KEYS } from '@beckon/contract';

/**
 * RFC 8785: the same JSON value always gives the same text, whatever the order of keys, the white space or the escapes
 * it arrived in. Numbers and strings are written as ECMAScript writes them, which is what the RFC asks for.
 *
 * A RangeError beyond the shapes that a record may have: nothing so deep or wide is ever kept, and to sort it would be
 * work that a stranger makes us do.
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

/** Most clients build their bodies by one piece of code, often in this very order. */
function isSorted(keys: string[]): boolean {
  for (let i = 1; i < keys.length; i += 1) if ((keys[i - 1] as string) > (keys[i] as string)) return false;
  return true;
}

/** A number beyond a double is read as infinite and would be written as null, which is another value. */
function scalarJson(value: unknown): string {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : JSON.stringify(value);
}
