import type { Fault } from '../../platform/fault.ts';
import { refused } from './template.ts';

/** The limit for the rendered HTML. Gmail clips an email at a fifth of it, and a larger one may exceed the limit for sending. */
const HTML_MAX_BYTES = 500_000;
/** The limit for all tables of one email. Markdown fills in cells that a row leaves out, so 8 kB can become 65,000 cells. */
const CELLS_MAX = 5_000;
/** The limit for the URLs and titles of all links. Markdown repeats those of a reference at each of its uses. */
const LINK_CHARS_MAX = 300_000;

export function checkHtmlSize(bytes: number): void {
  if (bytes > HTML_MAX_BYTES)
    throw tooLarge(`has ${number(bytes)} bytes of HTML; at most ${number(HTML_MAX_BYTES)} are allowed`);
}

export function checkLinkChars(chars: number): void {
  if (chars > LINK_CHARS_MAX)
    throw tooLarge(
      `repeats long link addresses or titles; at most ${number(LINK_CHARS_MAX)} characters are allowed`,
    );
}

/** Checks Markdown before it is rendered. */
export function checkTables(body: string): void {
  if (!body.includes('|')) return;
  const cells = cellsAtMost(body);
  if (cells > CELLS_MAX)
    throw tooLarge(`has tables of up to ${number(cells)} cells; at most ${number(CELLS_MAX)} are allowed`);
}

/** All line endings of Markdown. */
const LINE_END = /\r\n?|\n/;
/** The delimiter row of a Markdown table, also within a quote or a list. It also contains a `|` and a `-`. */
const DELIMITERS = /^[\s>|:-]+$/;
const BLANK = /^[\s>]*$/;

/** Returns an upper bound: a table ends at the next blank line at the latest, and has as many columns as its delimiter row. */
function cellsAtMost(body: string): number {
  let cells = 0;
  let [rows, columns] = [0, 0];
  for (const line of [...body.split(LINE_END), '']) {
    if (BLANK.test(line)) {
      cells += rows * columns;
      [rows, columns] = [0, 0];
      continue;
    }
    rows += 1;
    if (isDelimiterRow(line)) columns = Math.max(columns, line.split('|').length);
  }
  return cells;
}

function isDelimiterRow(line: string): boolean {
  return line.includes('|') && line.includes('-') && DELIMITERS.test(line);
}

function tooLarge(what: string): Fault {
  return refused([
    { message: `The email ${what}. Shorten its Markdown or HTML, or split it.`, field: 'body' },
  ]);
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
