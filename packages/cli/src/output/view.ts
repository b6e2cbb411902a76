import { printable, printableLines } from './printable.ts';
import { type Cell, type Row, table } from './table.ts';
import type { Words } from './words.ts';

/**
 * The output of a command: text, one record as label/value lines, a table, or several of these with blank lines between.
 * A function gets the words when the view is printed, so views need not pass them on.
 */
export type View = Block | readonly Block[];
export type Block = string | Details | Rows | null | ((words: Words) => View);
/** Values that are null, undefined or empty are left out; an array becomes several lines. */
export type Details = { readonly [label: string]: Cell | readonly Cell[] };
/** `title` is left out with the table when there are no rows and no text for this case. */
export type Rows = { rows: readonly Row[]; title?: string; empty?: string };

export type ViewOptions = { columns: number; words: Words };

export function render(view: View, options: ViewOptions): string {
  const blocks = Array.isArray(view) ? (view as readonly Block[]) : [view as Block];
  return blocks
    .map((block) => renderBlock(block, options))
    .filter((text) => text !== '')
    .join('\n\n');
}

function renderBlock(block: Block, options: ViewOptions): string {
  if (block === null) return '';
  if (typeof block === 'function') return render(block(options.words), options);
  if (typeof block === 'string') return printableLines(block);
  return isRows(block) ? renderRows(block, options) : renderDetails(block, options);
}

function isRows(block: Details | Rows): block is Rows {
  return Array.isArray(block['rows']) && block['rows'].every((row) => typeof row === 'object');
}

function renderRows({ rows, title, empty = '' }: Rows, { columns, words: { paint } }: ViewOptions): string {
  const head = title === undefined ? [] : [paint('bold', title)];
  if (rows.length === 0) return empty === '' ? '' : [...head, printableLines(empty)].join('\n');
  const [names = '', ...lines] = table(rows, columns);
  return [...head, paint('dim', names), ...lines].join('\n');
}

function renderDetails(details: Details, { words: { paint } }: ViewOptions): string {
  const rows = Object.entries(details).flatMap(([label, value]) => {
    const lines = (Array.isArray(value) ? (value as readonly Cell[]) : [value as Cell]).flatMap(linesOf);
    return lines.length === 0 ? [] : [{ label, lines }];
  });
  const width = Math.max(0, ...rows.map(({ label }) => label.length)) + 2;
  return rows
    .flatMap(({ label, lines }) =>
      lines.map((line, at) => paint('dim', (at === 0 ? label : '').padEnd(width)) + line),
    )
    .join('\n');
}

function linesOf(value: Cell): string[] {
  if (value === null || value === undefined || value === '') return [];
  if (typeof value === 'boolean') return [value ? 'yes' : 'no'];
  return String(value).split('\n').map(printable);
}
