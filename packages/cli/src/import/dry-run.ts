import { eventProblems, userProblems } from '@beckon/client/testing';
import { type FileRecord, FREE_FORM } from '@beckon/contract/files';
import { toJson } from '../output/printable.ts';
import type { ImportKind } from './options.ts';
import { count } from './progress.ts';
import type { ImportRow } from './row.ts';

export type DryRunReport = {
  type: 'dry_run';
  file: string;
  rows: number;
  /** Rows that would be sent and accepted. */
  valid: number;
  invalid: number;
  problems: { field: string | null; message: string; rows: number; first_line: number }[];
  problems_left_out: number;
  /** The first records, as they would be sent. */
  first: FileRecord[];
  /** Rules would fire for these events. */
  live: boolean;
};

const FIRST_MAX = 3;
/** Limits the list for a file in which every row has a different problem. */
const PROBLEMS_MAX = 50;

/** Reads everything and sends nothing. It finds almost everything that the server would reject. */
export async function dryRun(
  rows: AsyncIterable<ImportRow>,
  { kind, file, live }: { kind: ImportKind; file: string; live: boolean },
): Promise<DryRunReport> {
  const problems = new Map<string, DryRunReport['problems'][number]>();
  const report: DryRunReport = {
    type: 'dry_run',
    file,
    rows: 0,
    valid: 0,
    invalid: 0,
    problems: [],
    problems_left_out: 0,
    first: [],
    live,
  };
  for await (const row of rows) {
    report.rows += 1;
    const problem = row.problem ?? problemOf(row.toJSON(), kind);
    if (problem === null) {
      report.valid += 1;
      if (report.first.length < FIRST_MAX) report.first.push(row.toJSON());
      continue;
    }
    report.invalid += 1;
    const { message, field = null } = problem;
    const known = problems.get(message);
    if (known) known.rows += 1;
    else if (problems.size < PROBLEMS_MAX)
      problems.set(message, { field, message, rows: 1, first_line: row.line });
    else report.problems_left_out += 1;
  }
  report.problems = [...problems.values()].toSorted((a, b) => b.rows - a.rows);
  return report;
}

function problemOf(record: FileRecord, kind: ImportKind): { message: string; field?: string } | null {
  return (kind === 'users' ? userProblems(record) : eventProblems(record))[0] ?? null;
}

export function sayDryRun(report: DryRunReport, kind: ImportKind): string {
  const { rows, valid, invalid, problems, problems_left_out: leftOut, first, live } = report;
  const quiet =
    kind === 'users'
      ? ''
      : live
        ? ' Rules may fire for these events.'
        : ' No rule fires for imported events.';
  const lines = [
    `${many(rows, 'rows')}: ${many(valid, kind)} would be sent, and ${many(invalid, 'rows')} rejected. Nothing was sent.${quiet}`,
  ];
  if (first.length > 0) lines.push('', `First records, with their ${FREE_FORM[kind]}:`);
  for (const record of first) lines.push(`  ${toJson(record)}`);
  if (problems.length > 0) lines.push('', 'Problems:');
  for (const { message, rows: times, first_line: line } of problems)
    lines.push(`  ${count(times)} ×  ${message} (first in line ${line})`);
  if (leftOut > 0) lines.push(`  and ${count(leftOut)} rows for other reasons`);
  return lines.join('\n');
}

function many(number: number, things: string): string {
  return `${count(number)} ${number === 1 ? things.slice(0, -1) : things}`;
}
