import { table } from './measure.ts';
import type { Measured } from './record.ts';
import { keyOf, type Results } from './results.ts';

/**
 * Compares the results with an earlier run: every figure that both have in the same place, with the difference. Only ratios are meaningful
 * if the two runs used different machines.
 */
export function compare(earlier: Results, now: readonly Measured[]): string {
  const known = new Map(earlier.tables.map((each) => [keyOf(each), each]));
  return now.map((each) => compared(known.get(keyOf(each)), each)).join('\n');
}

function compared(before: Measured | undefined, now: Measured): string {
  if (!before) return `\n${now.title}\nnot in the earlier run`;
  const rows = now.rows.flatMap((cells, at) => rowsOf(now.header, { before: before.rows[at], cells }));
  const about = `${before.at.slice(0, 10)} ${before.commit} → ${now.at.slice(0, 10)} ${now.commit}`;
  return `\n${now.title}\n${about}\n${table(['', 'then', 'now', 'now / then'], rows)}`;
}

function rowsOf(
  header: string[],
  { before, cells }: { before: string[] | undefined; cells: string[] },
): string[][] {
  // Only rows with the same name are compared: a step of a search may be a different one this time.
  if (!before || (numberOf(cells[0]) === null && before[0] !== cells[0])) return [];
  return cells.flatMap((cell, at) => {
    const [then, now] = [numberOf(before[at]), numberOf(cell)];
    if (then === null || now === null) return [];
    const name = [numberOf(cells[0]) === null ? cells[0] : '', header[at]].filter(Boolean).join(', ');
    return [[name, before[at] ?? '', cell, then === 0 ? '' : (now / then).toFixed(2)]];
  });
}

/** Returns the number at the start of a cell, or null. */
function numberOf(cell: string | undefined): number | null {
  const found = /^[−-]?\d[\d,]*(?:\.\d+)?/.exec(cell ?? '');
  return found ? Number(found[0].replaceAll(',', '').replace('−', '-')) : null;
}
