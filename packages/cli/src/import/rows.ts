import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import type { JsonObject } from '@beckon/contract';
import { columnName, type MadeRecord, recordOf, recordOfCells } from '@beckon/contract/files';
import { Failure, usage } from '../failure.ts';
import type { ImportRow } from './row.ts';
import { planColumns, recordRules, refuseColumns, type Rules } from './plan.ts';
import { makeRow } from './row.ts';

/** A row that never ends is a quote that was never closed. */
const ROW_MAX_BYTES = 1024 * 1024;
/** Shapes of rows that are remembered; files have one, or a few. */
const SHAPES_MAX = 200;

export type Rows = {
  /** Of a CSV file, for those rows of it that are handed back. */
  header: readonly string[] | null;
  rows: AsyncGenerator<ImportRow>;
};

export type CsvOptions = { delimiter: string; rules: Rules };

/** Reads the header at once, and refuses what cannot be imported before anything was. */
export async function csvRows(
  bytes: AsyncIterable<Uint8Array>,
  { delimiter, rules }: CsvOptions,
): Promise<Rows> {
  const parser = Readable.from(bytes, { objectMode: false }).pipe(
    parse({
      delimiter,
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: ROW_MAX_BYTES,
    }),
  );
  const records = parser[Symbol.asyncIterator]() as AsyncIterator<Parsed>;
  const first = await nextOf(records);
  if (first === null) throw usage('The file is empty: its first line names the columns');
  const header = first.record.map(columnName);
  const columns = planColumns(header, rules);
  refuseColumns(header, columns, rules);
  const how = recordRules(rules);
  async function* read(): AsyncGenerator<ImportRow> {
    try {
      for (let parsed = await nextOf(records); parsed !== null; parsed = await nextOf(records)) {
        const { record: cells, info } = parsed;
        // Spreadsheets leave such rows below their last.
        if (cells.every((cell) => cell.trim() === '')) continue;
        yield makeRow({ line: info.lines - breaksIn(cells), cells }, recordOfCells(cells, columns, how));
      }
    } finally {
      parser.destroy();
    }
  }
  return { header, rows: read() };
}

type Parsed = { record: string[]; info: { lines: number } };

async function nextOf(records: AsyncIterator<Parsed>): Promise<Parsed | null> {
  try {
    const { done, value } = await records.next();
    return done ? null : value;
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('CSV_'))
      throw error;
    throw new Failure('unreadable', `The file is no CSV any further: ${error.message}`, { cause: error });
  }
}

/** A cell of several lines ends on another line than it began. */
function breaksIn(cells: readonly string[]): number {
  let breaks = 0;
  for (const cell of cells) if (cell.includes('\n')) breaks += cell.split('\n').length - 1;
  return breaks;
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
    let line = 0;
    for await (const text of linesOf(bytes)) {
      line += 1;
      if (text.trim() === '') continue;
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
    return 'The line is no JSON object';
  } catch {
    return 'The line is no JSON';
  }
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > ROW_MAX_BYTES)
      throw new Failure('unreadable', 'A line of the file is longer than 1 MiB');
  }
  const last = rest + decoder.decode();
  if (last !== '') yield last;
}
