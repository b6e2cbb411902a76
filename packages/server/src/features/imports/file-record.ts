import type { EventInput, JsonObject, JsonValue, UserInput } from '@beckon/contract';
import type { ImportMapping, ImportType } from '@beckon/contract/dashboard';
import { type Column, columnOf, columnsOf, type Field, type FileKind } from './file-columns.ts';
import type { FileFormat } from './file-format.ts';
import { cellsOf } from './file-rows.ts';
import { readCell, readTime } from './file-values.ts';

export type FileRecord = UserInput | EventInput;
/** What a row comes to, or why it comes to nothing. */
export type ReadRow = { record: FileRecord } | { field: string | null; message: string };
export type RecordReader = (text: string) => ReadRow;

/** Reads the rows of one file under one mapping. */
export function recordReader(kind: FileKind, file: FileFormat, mapping: ImportMapping | null): RecordReader {
  const build = builder(kind, mapping);
  if (file.delimiter === null) return jsonReader(kind, mapping, build);
  const { delimiter, columns: names } = file;
  const columns = columnsOf(kind, names, mapping);
  return function readLine(text) {
    const cells = cellsOf(text, delimiter);
    if (cells.length > names.length) {
      const message = `The row has ${cells.length} cells, and the header names ${names.length} columns`;
      return { field: null, message };
    }
    return build(
      cells.entries().map(([i, cell]) => ({ column: columns[i] ?? LEFT_OUT, value: cell.trim() })),
    );
  };
}

const LEFT_OUT: Column = { target: { kind: 'none' }, type: 'auto' };
/** Keys of JSONL rows are remembered with where they go, until there are too many different ones. */
const KEYS_REMEMBERED_MAX = 2_000;

type Value = { column: Column; value: unknown };
type Build = (values: Iterable<Value>) => ReadRow;

function jsonReader(kind: FileKind, mapping: ImportMapping | null, build: Build): RecordReader {
  const known = new Map<string, Column>();
  const find = (name: string): Column => {
    const column = known.get(name) ?? columnOf(kind, name, mapping);
    if (known.size < KEYS_REMEMBERED_MAX) known.set(name, column);
    return column;
  };
  return function readJson(text) {
    let row: unknown;
    try {
      row = JSON.parse(text);
    } catch {
      return { field: null, message: 'The line is not JSON' };
    }
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      return { field: null, message: 'The line must be a JSON object' };
    return build(Object.entries(row).map(([name, value]) => ({ column: find(name), value })));
  };
}

type Made = { fields: Partial<Record<Field, string>>; bag: JsonObject };

function builder(kind: FileKind, mapping: ImportMapping | null): Build {
  return function build(values) {
    // Without a prototype: a column may well be called `__proto__`.
    const made: Made = { fields: {}, bag: Object.create(null) as JsonObject };
    for (const value of values) {
      const fault = put(made, value);
      if (fault) return fault;
    }
    const { external_user_id: userId } = made.fields;
    if (userId === undefined) return { field: 'external_user_id', message: 'external_user_id is missing' };
    return kind === 'users' ? toUser(userId, made) : toEvent(userId, made, mapping);
  };
}

function toUser(userId: string, { fields: { email }, bag }: Made): ReadRow {
  const traits = Object.keys(bag).length > 0 ? { traits: bag } : {};
  return { record: { external_user_id: userId, ...(email !== undefined && { email }), ...traits } };
}

function toEvent(userId: string, { fields, bag }: Made, mapping: ImportMapping | null): ReadRow {
  const { name = mapping?.event_name ?? '', occurred_at, message_id } = fields;
  if (name === '') return { field: 'name', message: 'name is missing' };
  if (occurred_at === undefined && message_id === undefined && mapping?.equal_rows_are_one !== true)
    return { field: 'occurred_at', message: 'The row has neither a time nor an id' };
  const told = {
    ...(Object.keys(bag).length > 0 && { properties: bag }),
    ...(occurred_at !== undefined && { occurred_at }),
    ...(message_id !== undefined && { message_id }),
  };
  return { record: { external_user_id: userId, name, ...told } };
}

type Fault = { field: string | null; message: string };

function put(made: Made, { column: { target, type }, value }: Value): Fault | null {
  if (value === '' || value === undefined || target.kind === 'none') return null;
  if (target.kind === 'field') return putField(made, target.field, value);
  if (target.kind === 'all') return putAll(made, value);
  const read = readValue(value, isText(target.key) && type === 'auto' ? 'text' : type);
  if (!('value' in read)) return { field: target.key, message: `${target.key} ${read.message}` };
  made.bag[target.key] = read.value;
  return null;
}

/** Known traits are texts, whatever they look like: a company may be called 37. */
function isText(key: string): boolean {
  return key === 'name' || key === 'plan' || key === 'company' || key === 'role';
}

function putField(made: Made, field: Field, value: unknown): Fault | null {
  if (value === null) return null;
  if (field === 'occurred_at') {
    const at = readTime(value);
    if (Number.isNaN(at)) return { field, message: 'occurred_at is no time' };
    made.fields.occurred_at = new Date(at).toISOString();
    return null;
  }
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string') return { field, message: `${field} must be a text` };
  if (text.trim() !== '') made.fields[field] = text.trim();
  return null;
}

function putAll(made: Made, value: unknown): Fault | null {
  const all = typeof value === 'string' ? readCell(value, 'json') : { value };
  const object = 'value' in all ? all.value : null;
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    return { field: null, message: 'traits and properties must be objects' };
  for (const [key, one] of Object.entries(object)) made.bag[key] = one as JsonValue;
  return null;
}

/** JSON says itself what a value is; only where a type was chosen is a text of it read as something else. */
function readValue(value: unknown, type: ImportType): { value: JsonValue } | { message: string } {
  return typeof value === 'string' ? readCell(value, type) : { value: value as JsonValue };
}
