import { table } from './measure.ts';
import { record } from './record.ts';

/** Formats of figures, shared by all benchmarks. */
export const round = (value: number): string => Math.round(value).toLocaleString('en');
export const ratio = (value: number): string => value.toFixed(2);
export const micros = (value: number): string => `${value.toFixed(1)} µs`;
export const ms = (value: number): string => `${value.toFixed(2)} ms`;
/** A figure without samples is printed as missing. */
export const formatMsOrNone = (value: number | null): string => (value === null ? 'none seen' : ms(value));
export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;

export async function show(
  title: string,
  header: string[],
  run: () => Promise<string[][]>,
): Promise<string[][]> {
  const rows = await run();
  console.log(`\n${title}\n${table(header, rows)}`);
  record(title, { header, rows });
  return rows;
}
