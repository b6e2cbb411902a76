import { timestampText } from '../time/time-text.ts';

/**
 * Formats numbers, ids, booleans or moments as an array parameter of PostgreSQL. node-postgres would check each element for characters to
 * escape. For a thousand rows that costs more than the database needs to read them. Never use it for user-supplied text.
 */
export function plainList(values: (number | boolean | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Formats user-supplied texts in the same way. Nearly all of them have nothing to escape, which node-postgres does not make use of. */
export function textList(values: (string | null)[]): string {
  let list = '';
  for (const value of values) {
    if (value === null) list += ',NULL';
    else if (value.includes('"') || value.includes('\\'))
      list += `,"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    else list += `,"${value}"`;
  }
  return `{${list.slice(1)}}`;
}

/**
 * Formats JSON texts, as `JSON.stringify` writes them, as a parameter for `jsonListSql`. They contain no line break, while in an array
 * parameter each quotation mark would be escaped here and read character by character there.
 */
export function jsonList(values: string[]): string {
  return values.join('\n');
}

export function jsonListSql(parameter: string): string {
  return `string_to_array(${parameter}::text, E'\\n')::jsonb[]`;
}

/** Formats moments in milliseconds in the same way. Records of one request share a moment, which is formatted once. */
export function momentList(values: (number | null)[]): string {
  let [lastMs, lastText]: [number | null, string | null] = [null, null];
  return plainList(
    values.map((ms) => {
      if (ms !== lastMs) [lastMs, lastText] = [ms, ms === null ? null : timestampText(ms)];
      return lastText;
    }),
  );
}
