import { printable } from './printable.ts';

export type Cell = string | number | boolean | null | undefined;
export type Row = Record<string, Cell>;

/** Longer cells are cut on a terminal; `--json` has the whole value. */
const CELL_MAX_CHARS = 60;
const CELL_MIN_CHARS = 12;
const GAP = '  ';

/** Rows under their column names. Columns shrink to fit the terminal; in a pipe (`columns` infinite) nothing is cut. */
export function table(rows: readonly Row[], columns: number): string[] {
  const names = Object.keys(rows[0] ?? {});
  const max = columns === Infinity ? Infinity : CELL_MAX_CHARS;
  const lines = [names, ...rows.map((row) => names.map((name) => cut(cell(row[name]), max)))];
  const widths = fit(
    names.map((_, at) => Math.max(...lines.map((line) => width(line[at] ?? '')))),
    columns,
  );
  return lines.map((line) =>
    line
      .map((text, at) => pad(cut(text, widths[at] ?? 0), widths[at] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function cell(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return printable(String(value));
}

/** Takes characters from the widest column until all fit, but leaves each column wide enough to read. */
function fit(widths: readonly number[], columns: number): number[] {
  const fitting = [...widths];
  const gaps = GAP.length * Math.max(0, widths.length - 1);
  for (let over = widths.reduce((sum, width) => sum + width, gaps) - columns; over > 0; over -= 1) {
    const widest = Math.max(...fitting);
    if (widest <= CELL_MIN_CHARS) break;
    fitting[fitting.indexOf(widest)] = widest - 1;
  }
  return fitting;
}

/** Counts characters as they are displayed, so that a combining accent moves no column. */
const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });

function width(text: string): number {
  return [...SEGMENTS.segment(text)].length;
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const segments = [...SEGMENTS.segment(text)].map(({ segment }) => segment);
  return segments.length <= max ? text : `${segments.slice(0, Math.max(0, max - 1)).join('')}…`;
}

function pad(text: string, to: number): string {
  return text + ' '.repeat(Math.max(0, to - width(text)));
}
