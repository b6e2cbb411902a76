import { printable } from './printable.ts';

export type Cell = string | number | boolean | null | undefined;
export type Row = Record<string, Cell>;

/** Nobody reads further than this in a cell, and what is cut is whole in JSON. */
const CELL_MAX_CHARS = 60;
const GAP = '  ';

/** Rows under their names, in columns that are as wide as they must be, and no wider than the terminal where that can be had. */
export function table(rows: readonly Row[], columns: number): string[] {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, at) => Math.max(...lines.map((line) => width(line[at] ?? ''))));
  const fitting = fit(widths, columns);
  return lines.map((line) =>
    line
      .map((text, at) => pad(cut(text, fitting[at] ?? 0), fitting[at] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function cell(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-';
  return cut(printable(String(value)), CELL_MAX_CHARS);
}

/** The widest gives way, down to what can still be read. */
function fit(widths: readonly number[], columns: number): number[] {
  const fitting = [...widths];
  const spare = GAP.length * Math.max(0, widths.length - 1);
  for (let over = sum(fitting) + spare - columns; over > 0; over -= 1) {
    const widest = Math.max(...fitting);
    if (widest <= CELL_MIN_CHARS) break;
    fitting[fitting.indexOf(widest)] = widest - 1;
  }
  return fitting;
}

const CELL_MIN_CHARS = 12;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Counted by characters as people see them, so that an accent that stands apart moves no column. */
const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });

function width(text: string): number {
  return [...SEGMENTS.segment(text)].length;
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const seen = [...SEGMENTS.segment(text)].map(({ segment }) => segment);
  return seen.length <= most ? text : `${seen.slice(0, Math.max(0, most - 1)).join('')}…`;
}

function pad(text: string, to: number): string {
  return text + ' '.repeat(Math.max(0, to - width(text)));
}
