import { table } from './measure.ts';
import type { MeasuredTable } from './record.ts';
import { keyOf, type Results } from './results.ts';

/**
 * Compares the results with an earlier run: every figure that both have in the same place, with the difference. Only ratios are meaningful
 * if the two runs used different machines.
 */
export function compare(earlier: Results, now: readonly MeasuredTable[]): string {
  const byKey = new Map(earlier.tables.map((measuredTable) => [keyOf(measuredTable), measuredTable]));
  return now.map((measuredTable) => compareTable(byKey.get(keyOf(measuredTable)), measuredTable)).join('\n');
}

function compareTable(before: MeasuredTable | undefined, now: MeasuredTable): string {
  if (!before) return `\n${now.title}\nnot in the earlier run`;
  const rows = now.rows.flatMap((cells, index) => rowsOf(now.header, { before: before.rows[index], cells }));
  const runs = `${before.at.slice(0, 10)} ${before.commit} → ${now.at.slice(0, 10)} ${now.commit}`;
  return `\n${now.title}\n${runs}\n${table(['', 'then', 'now', 'now / then'], rows)}`;
}

function rowsOf(
  header: string[],
  { before, cells }: { before: string[] | undefined; cells: string[] },
): string[][] {
  // Only rows with the same name are compared: a step of a search may be a different one this time.
  if (!before || (numberOf(cells[0]) === null && before[0] !== cells[0])) return [];
  return cells.flatMap((cell, index) => {
    const [then, now] = [numberOf(before[index]), numberOf(cell)];
    if (then === null || now === null) return [];
    const name = [numberOf(cells[0]) === null ? cells[0] : '', header[index]].filter(Boolean).join(', ');
    return [[name, before[index] ?? '', cell, then === 0 ? '' : (now / then).toFixed(2)]];
  });
}

/** Returns the number at the start of a cell, or null. */
function numberOf(cell: string | undefined): number | null {
  const match = /^[−-]?\d[\d,]*(?:\.\d+)?/.exec(cell ?? '');
  return match ? Number(match[0].replaceAll(',', '').replace('−', '-')) : null;
}
