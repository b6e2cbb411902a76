import type { JsonObject } from '@beckon/contract';
import {
  cellsOf,
  columnName,
  type MadeRecord,
  readRows,
  recordOf,
  recordOfCells,
} from '@beckon/contract/files';
import { Failure, usage } from '../failure.ts';
import type { ImportRow } from './row.ts';
import { planColumns, recordRules, refuseColumns, type Rules } from './plan.ts';
import { makeRow } from './row.ts';

/** Cached column plans; a file has one row shape, or a few. */
const SHAPES_MAX = 200;

export type Rows = {
  /** The header of a CSV file, for the file of rejected rows. */
  header: readonly string[] | null;
  rows: AsyncGenerator<ImportRow>;
};

export type CsvOptions = { delimiter: string; rules: Rules };

/** Reads the header, and rejects a file that cannot be imported before anything is sent. */
export async function csvRows(
  bytes: AsyncIterable<Uint8Array>,
  { delimiter, rules }: CsvOptions,
): Promise<Rows> {
  const lines = textRows(bytes, delimiter);
  const { value: first } = await lines.next();
  if (first === undefined) throw usage('The file is empty. Its first line must name the columns.');
  if (/\r(?!\n)/.test(first.text))
    throw usage('The lines of the file end with CR only. Save it as CSV UTF-8.');
  const header = cellsOf(first.text, delimiter).map(columnName);
  const columns = planColumns(header, rules);
  refuseColumns(header, columns, rules);
  const how = recordRules(rules);
  async function* read(): AsyncGenerator<ImportRow> {
    for await (const { line, text } of lines) {
      const cells = cellsOf(text, delimiter);
      // Spreadsheets leave empty rows at the end.
      if (cells.every((cell) => cell.trim() === '')) continue;
      yield makeRow({ line, cells }, recordOfCells(cells, columns, how));
    }
  }
  return { header, rows: read() };
}

type TextRow = { line: number; text: string };

/** Reads the rows that hold text; throws at one that is not readable. */
async function* textRows(
  bytes: AsyncIterable<Uint8Array>,
  delimiter: string | null,
): AsyncGenerator<TextRow, undefined> {
  for await (const rows of readRows(bytes, { delimiter }))
    for (const { line, text, flaw } of rows) {
      if (text === null) throw new Failure('unreadable', `Cannot read line ${line} of the file. ${flaw}`);
      if (text.trim() !== '') yield { line, text };
    }
}

export function jsonRows(bytes: AsyncIterable<Uint8Array>, rules: Rules): Rows {
  const plans = new Map<string, ReturnType<typeof planColumns>>();
  const how = recordRules(rules);
  function madeOf(row: JsonObject): MadeRecord {
    const names = Object.keys(row);
    const shape = names.join('\n');
    const columns = plans.get(shape) ?? planColumns(names, rules);
    if (plans.size < SHAPES_MAX) plans.set(shape, columns);
    return recordOf(Object.values(row), columns, how);
  }
  async function* read(): AsyncGenerator<ImportRow> {
    for await (const { line, text } of textRows(bytes, null)) {
      const value = parseLine(text);
      const made = typeof value === 'string' ? { field: null, message: value } : madeOf(value);
      yield makeRow({ line, cells: text }, made);
    }
  }
  return { header: null, rows: read() };
}

function parseLine(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
    return 'The line is not a JSON object';
  } catch {
    return 'The line is not valid JSON';
  }
}
