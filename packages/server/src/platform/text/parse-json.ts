/**
 * Parses like `JSON.parse`, but never mixes up keys. V8 compares the source text of an escaped key with the keys of objects that it parsed
 * before. Once any text had the key `\`, V8 may return that key for `"\n"` or `"\""` in another text, even of another project. So escaped
 * keys are replaced before the text is parsed, and restored afterwards. Most texts have no escape at all. `JSON.parse` can be used again when
 * https://github.com/nodejs/node/issues/63785 is closed.
 */
export function parseJson(text: string): unknown {
  if (!text.includes('\\')) return JSON.parse(text);
  const keys = escapedKeys(text);
  if (keys.length === 0) return JSON.parse(text);
  let mark = '\uE000';
  while (text.includes(mark)) mark += '\uE000';
  const names = new Map(keys.map(({ name }, i) => [`${mark}${i}`, name]));
  let replaced = '';
  let from = 0;
  for (const [i, { start, end }] of keys.entries()) {
    replaced += `${text.slice(from, start)}"${mark}${i}"`;
    from = end;
  }
  return restoreKeys(JSON.parse(replaced + text.slice(from)), names);
}

type EscapedKey = { start: number; end: number; name: string };

const SPACE = new Set([' ', '\t', '\n', '\r']);

function escapedKeys(text: string): EscapedKey[] {
  const keys: EscapedKey[] = [];
  let escape = text.indexOf('\\');
  for (let start = text.indexOf('"'); start !== -1 && escape !== -1;) {
    const end = stringEnd(text, start);
    if (escape < end && isKey(text, end)) {
      const name = JSON.parse(text.slice(start, end)) as string;
      keys.push({ start, end, name });
    }
    if (escape < end) escape = text.indexOf('\\', end);
    start = text.indexOf('"', end);
  }
  return keys;
}

/** Returns the position after the closing quotation mark, or the length of an unterminated text. */
function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === '\\') before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (SPACE.has(text[at] ?? '')) at += 1;
  return text[at] === ':';
}

/** Restores the keys without recursion, because the text may be nested deeply. */
function restoreKeys(value: unknown, names: Map<string, string>): unknown {
  const root = { value };
  const waiting: object[] = [root];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    for (const [key, child] of Object.entries(parent) as [string, unknown][]) {
      if (typeof child !== 'object' || child === null) continue;
      const restored = withNames(child, names);
      // `__proto__` stays an own key, which an assignment would change.
      if (restored !== child) Object.defineProperty(parent, key, { value: restored });
      waiting.push(restored);
    }
  }
  return root.value;
}

function withNames(object: object, names: Map<string, string>): object {
  if (Array.isArray(object) || !Object.keys(object).some((key) => names.has(key))) return object;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value]));
}
