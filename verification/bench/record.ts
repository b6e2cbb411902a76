/** A table that a benchmark printed, with the machine it was measured on: figures without that mean little. */
export type Measured = {
  bench: string;
  title: string;
  header: string[];
  rows: string[][];
  at: string;
  commit: string;
  quick: boolean;
};

type Run = Pick<Measured, 'commit' | 'quick'>;

let run: Run = { commit: 'unknown', quick: false };
let bench = '';
const tables: Measured[] = [];

export function beginRun(given: Run): void {
  run = given;
}

export function beginBench(name: string): void {
  bench = name;
}

export function record(title: string, { header, rows }: Pick<Measured, 'header' | 'rows'>): void {
  tables.push({ bench, title, header, rows, at: new Date().toISOString(), ...run });
}

export function measured(): readonly Measured[] {
  return tables;
}
