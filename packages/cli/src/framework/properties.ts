import type { JsonObject, JsonValue } from '@beckon/contract';
import { longOf, repeatable, type Option, type OptionSource, pairOf } from './options.ts';

/** Reads `key=value` options into an object, which may have keys such as `__proto__`. */
export function properties(flags: string, help: string): Option<JsonObject> {
  return {
    ...repeatable(flags, help),
    read(entries: readonly string[] = [], source: OptionSource): JsonObject {
      const pairs = entries.map((pair) => pairOf(pair, longOf(source.flags)));
      return Object.fromEntries(pairs.map(([key, value]) => [key, valueOf(value)]));
    },
  };
}

/** JSON where it is valid, text otherwise. A number that JSON would round stays text, so that ids keep their digits. */
function valueOf(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === 'number' && String(value) !== text ? text : value;
  } catch {
    return text;
  }
}
