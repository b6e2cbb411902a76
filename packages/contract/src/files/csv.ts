/** Reads and writes the cells of one CSV row (RFC 4180). `rows.ts` finds the rows of a file. */

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Returns the delimiter that occurs most in the first line of a file, outside quotes. `head` is the beginning of the file. */
export function delimiterOf(head: string): string {
  const [line = ''] = head.replaceAll(/"[^"]*"/g, '').split('\n', 1);
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Writes one row, without a line break. Quotes cells with leading or trailing space, which many readers would drop. */
export function csvLine(values: readonly (string | null)[], delimiter = ','): string {
  return values.map((value) => quoted(value ?? '', delimiter)).join(delimiter);
}

function quoted(value: string, delimiter: string): string {
  const isPlain = !/["\r\n]|^\s|\s$/.test(value) && !value.includes(delimiter);
  return isPlain ? value : `"${value.replaceAll('"', '""')}"`;
}

export type CellOptions = {
  /** Removes space around unquoted cells. Quoted cells keep theirs. */
  trim?: boolean;
};

/** Reads the cells of one row, without their quotes. Only a quote at the beginning of a cell opens one. */
export function cellsOf(text: string, delimiter: string, { trim = false }: CellOptions = {}): string[] {
  if (!text.includes('"')) {
    const cells = text.split(delimiter);
    return trim ? cells.map((cell) => cell.trim()) : cells;
  }
  const cells: string[] = [];
  for (let at = 0; at <= text.length;) {
    const isQuoted = text[at] === '"';
    const { cell, end } = isQuoted ? quotedCell(text, at, delimiter) : plainCell(text, at, delimiter);
    cells.push(trim && !isQuoted ? cell.trim() : cell);
    at = end + 1;
  }
  return cells;
}

type Cell = { cell: string; end: number };

function plainCell(text: string, at: number, delimiter: string): Cell {
  const found = text.indexOf(delimiter, at);
  const end = found < 0 ? text.length : found;
  return { cell: text.slice(at, end), end };
}

/** Text between the closing quote and the next delimiter is appended to the cell as it is. */
function quotedCell(text: string, at: number, delimiter: string): Cell {
  let cell = '';
  let from = at + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { cell: cell + text.slice(from), end: text.length };
    cell += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const rest = plainCell(text, quote + 1, delimiter);
      return { cell: cell + rest.cell, end: rest.end };
    }
    cell += '"';
    from = quote + 2;
  }
}
