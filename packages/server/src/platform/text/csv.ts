/** Cells that spreadsheets open safely. `@beckon/contract/files` reads and writes CSV itself. */

/** Prefixes a cell that a spreadsheet would run as a formula with an apostrophe. */
export function plainCell(value: string): string {
  return FORMULA.test(value) ? `'${value}` : value;
}

/** Reverts `plainCell`. */
export function ofPlainCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** Matches values that already have the prefix too: they get another one, so that every value survives the round trip. */
const FORMULA = /^'*[=+\-@\t\r]/;
