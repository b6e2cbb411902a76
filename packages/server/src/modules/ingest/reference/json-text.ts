const LINE_MAX = 72;

/** Formats JSON as people write it: a value that fits on one line stays on one line. */
export function jsonText(value: unknown, indent = ''): string {
  const flat = oneLine(value);
  if (indent.length + flat.length <= LINE_MAX || typeof value !== 'object' || value === null) return flat;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const lines = Array.isArray(value)
    ? value.map((item) => inner + jsonText(item, inner))
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${jsonText(item, inner)}`);
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${oneLine(item)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}
