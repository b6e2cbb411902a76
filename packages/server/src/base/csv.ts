/**
 * Comma-separated values as RFC 4180 has them: a value with a comma, a quote or a line break stands in quotes, a quote within
 * twice. Rows are read as their text comes, however it is cut.
 */
export type CsvRow = {
  /** Where it begins, from 1. */
  line: number;
  values: string[];
};

/** No row of ours comes near it; a quote that is never closed must not gather the whole file. */
export const CSV_ROW_MAX_CHARS = 10_000;

export function csvLine(values: readonly (string | null)[]): string {
  return values.map((value) => quoted(value ?? '')).join(',');
}

function quoted(value: string): string {
  // What begins or ends with a space would lose it with many who read it.
  return /["\r\n,]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** A value that a sheet must not take for a formula. */
export function plainCell(value: string): string {
  return FORMULA.test(value) ? `'${value}` : value;
}

/** What it was before that. */
export function ofPlainCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** One that looks as if it had been made plain already is made plain once more, so that each reads back as itself. */
const FORMULA = /^'*[=+\-@\t\r]/;

/** Empty lines are passed over; a row that is too long, or whose last quote is missing, comes as `null` and is the last one. */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRow | null, void, void> {
  let rest = '';
  let line = 1;
  for await (const chunk of chunks) {
    rest += chunk;
    for (let end = endOfRow(rest); end !== null; end = endOfRow(rest)) {
      const text = rest.slice(0, end);
      rest = rest.slice(end + 1);
      if (text.length > CSV_ROW_MAX_CHARS) return yield null;
      const values = valuesOf(text.replace(/\r$/, ''));
      if (values) yield { line, values };
      line += text.split('\n').length;
    }
    if (rest.length > CSV_ROW_MAX_CHARS) return yield null;
  }
  if (isOpen(rest)) return yield null;
  const values = valuesOf(rest.replace(/\r$/, ''));
  if (values) yield { line, values };
}

/** Where the first line break is that stands in no quotes. */
function endOfRow(text: string): number | null {
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
    if (!isOpen(text.slice(0, at))) return at;
  return null;
}

/** A quote within a value is written twice, so in a whole row their number is even. */
function isOpen(text: string): boolean {
  let isEven = true;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isEven = !isEven;
  return !isEven;
}

const VALUE = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/gy;

/** Null for a row in which nothing stands. Stray quotes are part of their value. */
function valuesOf(text: string): string[] | null {
  if (text.trim() === '') return null;
  const values: string[] = [];
  VALUE.lastIndex = 0;
  for (let at = 0; at <= text.length;) {
    VALUE.lastIndex = at;
    const [whole, inQuotes, plain = '', behind] = VALUE.exec(text) ?? strayOf(text, at);
    values.push(inQuotes === undefined ? plain.trim() : inQuotes.replaceAll('""', '"'));
    if (behind !== ',') break;
    at += whole.length;
  }
  return values;
}

/** What is neither quoted nor free of quotes goes to the next comma as it is. */
function strayOf(text: string, at: number): [string, undefined, string, string] {
  const comma = text.indexOf(',', at);
  const value = text.slice(at, comma < 0 ? text.length : comma);
  return comma < 0 ? [value, undefined, value, ''] : [`${value},`, undefined, value, ','];
}
