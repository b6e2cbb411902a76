/** A table that a benchmark printed, with the machine it was measured on: figures without that mean little. */
export type MeasuredTable = {
  bench: string;
  title: string;
  header: string[];
  rows: string[][];
  at: string;
  commit: string;
  quick: boolean;
};

type Run = Pick<MeasuredTable, 'commit' | 'quick'>;

let run: Run = { commit: 'unknown', quick: false };
let bench = '';
const tables: MeasuredTable[] = [];

export function beginRun(runInfo: Run): void {
  run = runInfo;
}

export function beginBench(name: string): void {
  bench = name;
}

export function record(title: string, { header, rows }: Pick<MeasuredTable, 'header' | 'rows'>): void {
  tables.push({ bench, title, header, rows, at: new Date().toISOString(), ...run });
}

export function measuredTables(): readonly MeasuredTable[] {
  return tables;
}
