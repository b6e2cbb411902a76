import { type JsonObject, RECORD_MAX_BYTES, RECORD_MAX_VALUES } from '@beckon/contract';
import type { ImportMapping } from '@beckon/contract/dashboard';
import {
  cellsOf,
  type FileColumn,
  type FileKind,
  type MadeRecord,
  recordOf,
  recordOfCells,
  type RecordRules,
} from '@beckon/contract/files';
import { columnsOf } from './file-columns.ts';
import type { FileFormat } from './file-format.ts';
import { scanJson } from '../../platform/text/json-scan.ts';
import { parseJson } from '../../platform/text/parse-json.ts';

/** Converts a row to a record, or returns why it cannot. */
export type RecordReader = (text: string) => MadeRecord;

/** Creates a reader for the rows of one file under one mapping. */
export function recordReader(kind: FileKind, file: FileFormat, mapping: ImportMapping | null): RecordReader {
  const name = mapping?.event_name ?? '';
  const rules: RecordRules = {
    kind,
    eventName: name === '' ? null : name,
    equalRowsAreOne: mapping?.equal_rows_are_one === true,
  };
  const { delimiter, columns: names } = file;
  if (delimiter === null) return jsonReader(rules, mapping);
  const columns = columnsOf(kind, names, mapping);
  return function readLine(text) {
    return recordOfCells(cellsOf(text, delimiter), columns, rules);
  };
}

/** Rows of JSON have their own columns. The resulting shapes are cached, because a file has only one or a few. */
const SHAPES_MAX = 200;

function jsonReader(rules: RecordRules, mapping: ImportMapping | null): RecordReader {
  const columnsOfShape = new Map<string, FileColumn[]>();
  return function readJson(text) {
    const parsed = parseRow(text);
    if ('problem' in parsed) return { field: null, message: parsed.problem };
    const { row } = parsed;
    const names = Object.keys(row);
    const shape = names.join('\n');
    const columns = columnsOfShape.get(shape) ?? columnsOf(rules.kind, names, mapping);
    if (columnsOfShape.size < SHAPES_MAX) columnsOfShape.set(shape, columns);
    return recordOf(Object.values(row as JsonObject), columns, rules);
  };
}

/**
 * A line may have 1 MiB, because most of its columns can be left out of the record. A hundred thousand values cost a tenth of a second. A
 * million brackets cost more and use 27 MB, so a long line is checked first.
 */
const BOUNDS = {
  depth: 32,
  values: 4 * RECORD_MAX_VALUES,
  valuesOfItem: 4 * RECORD_MAX_VALUES,
  scalarItems: Number.POSITIVE_INFINITY,
  keys: 4 * RECORD_MAX_VALUES,
  numberChars: Number.POSITIVE_INFINITY,
};

type ParsedRow = { row: object } | { problem: string };

/** Parses a line of a file in JSON. */
export function parseRow(text: string): ParsedRow {
  if (text.length > RECORD_MAX_BYTES && scanJson(Buffer.from(text), BOUNDS).excess !== null)
    return { problem: 'The line is nested too deeply, or has too many values' };
  let row: unknown;
  try {
    row = parseJson(text);
  } catch {
    return { problem: 'The line is not JSON' };
  }
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return { row };
  return { problem: 'The line must be a JSON object' };
}
