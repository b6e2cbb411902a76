import type { ImportSample } from '@beckon/contract/dashboard';
import { cellsOf, type FileColumn, type FileRow, readRows, formatTarget } from '@beckon/contract/files';
import type { FieldFault } from '../../platform/fault.ts';
import { columnsOf } from './file-columns.ts';
import { type FileFormat, HEAD_BYTES, type ImportFile } from './file-format.ts';
import { parseRow, recordReader } from './file-row.ts';
import { openFormat, problemsOfFile } from './file-source.ts';

const ROWS = 20;
const VALUES = 5;
const VALUE_CHARS = 80;
const COLUMNS_MAX = 500;

/** Shows how the first rows of a file would be imported under a mapping. `faultsOf` validates a record. */
export async function sampleFile(
  file: ImportFile,
  faultsOf: (record: object) => FieldFault[],
): Promise<ImportSample> {
  const format = await openFormat(file);
  const rows = await firstRows(file, format);
  const read = recordReader(file.kind, format, file.mapping);
  return {
    format: format.format,
    delimiter: format.delimiter,
    columns: sampleColumns(file, format, rows),
    rows: rows.map(({ line, text, flaw }) => {
      const made = text === null ? { field: null, message: flaw ?? '' } : read(text);
      if (!('record' in made)) return { row: line, record: null, faults: [made] };
      const faults = faultsOf(made.record);
      return {
        row: line,
        record: made.record,
        faults: faults.map(({ field = null, message }) => ({ field, message })),
      };
    }),
    problems: problemsOfFile(file, format),
  };
}

async function firstRows(file: ImportFile, { begins, delimiter }: FileFormat): Promise<FileRow[]> {
  const first = (await file.load(0)) ?? Buffer.alloc(0);
  // Drops a row that is cut off at the end of the head, because it would look invalid. The head of a small file is complete.
  const head = first.subarray(begins.at, HEAD_BYTES);
  const isWhole = first.length <= HEAD_BYTES;
  const found: FileRow[] = [];
  async function* pieces(): AsyncGenerator<Buffer, void, void> {
    yield isWhole ? head : head.subarray(0, head.lastIndexOf(0x0a) + 1);
  }
  for await (const rows of readRows(pieces(), { from: begins, delimiter })) found.push(...rows);
  return found.filter(({ text }) => text === null || text.trim() !== '').slice(0, ROWS);
}

function sampleColumns(file: ImportFile, format: FileFormat, rows: FileRow[]): ImportSample['columns'] {
  const values = format.delimiter === null ? ofJson(rows) : ofCells(rows, format.columns, format.delimiter);
  const names = [...values.keys()].slice(0, COLUMNS_MAX);
  const columns = columnOfName(file, format, rows);
  return names.map((name) => {
    const { target, type } = columns.get(name) ?? LEFT_OUT;
    const samples = (values.get(name) ?? []).filter((value) => value !== '').slice(0, VALUES);
    return {
      name,
      to: formatTarget(file.kind, target),
      type,
      values: samples.map((value) => value.slice(0, VALUE_CHARS)),
    };
  });
}

const LEFT_OUT: FileColumn = { target: { part: 'none' }, type: 'auto' };

/** For JSONL, a column is taken from the first row that has it. */
function columnOfName(
  { kind, mapping }: ImportFile,
  { delimiter, columns: names }: FileFormat,
  rows: FileRow[],
): Map<string, FileColumn> {
  const shapes = delimiter === null ? rows.map(({ text }) => Object.keys(objectOf(text ?? ''))) : [names];
  const found = new Map<string, FileColumn>();
  for (const shape of shapes) {
    const columns = columnsOf(kind, shape, mapping);
    for (const [i, name] of shape.entries()) if (!found.has(name)) found.set(name, columns[i] ?? LEFT_OUT);
  }
  return found;
}

function ofCells(rows: FileRow[], names: string[], delimiter: string): Map<string, string[]> {
  const values = new Map(names.map((name): [string, string[]] => [name, []]));
  for (const { text } of rows)
    for (const [i, cell] of cellsOf(text ?? '', delimiter).entries()) values.get(names[i] ?? '')?.push(cell);
  return values;
}

function ofJson(rows: FileRow[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { text } of rows)
    for (const [name, value] of Object.entries(objectOf(text ?? ''))) {
      const existing = values.get(name) ?? [];
      existing.push(typeof value === 'string' ? value : JSON.stringify(value));
      values.set(name, existing);
    }
  return values;
}

function objectOf(text: string): object {
  const parsed = parseRow(text);
  return 'row' in parsed ? parsed.row : {};
}
