import type { JsonObject, JsonValue } from '@beckon/contract';
import { usage } from '../failure.ts';
import { longOf, many, type Option, type OptionSource } from './options.ts';

/** Reads `key=value` options into an object. */
export function properties(flags: string, help: string): Option<JsonObject> {
  const pairs = many(flags, help);
  return {
    ...pairs,
    read(given: readonly string[] | undefined, source: OptionSource): JsonObject {
      const found: JsonObject = {};
      for (const pair of given ?? []) {
        const at = pair.indexOf('=');
        if (at < 1)
          throw usage(`${longOf(source.flags)}: write key=value, not ${pair}`, longOf(source.flags));
        define(found, pair.slice(0, at), valueOf(pair.slice(at + 1)));
      }
      return found;
    },
  };
}

/** Sets the values of the second object over the first, also for keys such as `__proto__`. */
export function merged(first: JsonObject = {}, second: JsonObject = {}): JsonObject {
  const both: JsonObject = {};
  for (const [key, value] of [...Object.entries(first), ...Object.entries(second)]) define(both, key, value);
  return both;
}

function define(target: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
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
