import { CANONICAL_EVENTS } from '../canonical.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { EventInput, UserInput } from '../wire.ts';
import { type FieldName, type FileKind, FREE_FORM, formatTarget, type Target } from './columns.ts';
import { type CellType, NO_TIME, readCell, readMoment } from './values.ts';

export type FileRecord = UserInput | EventInput;
export type FileColumn = { target: Target; type: CellType };
export type RecordRules = {
  kind: FileKind;
  /** The event name of rows that have none. */
  eventName: string | null;
  equalRowsAreOne: boolean;
};
export type RowFault = { field: string | null; message: string };
export type MadeRecord = { record: FileRecord } | RowFault;

/** Converts a CSV row. Missing cells at its end are empty, because spreadsheets omit them. */
export function recordOfCells(
  cells: readonly string[],
  columns: readonly FileColumn[],
  rules: RecordRules,
): MadeRecord {
  if (cells.length > columns.length) {
    const message = `The row has ${cells.length} cells, and the header ${columns.length}`;
    return { field: null, message };
  }
  return recordOf(
    cells.map((cell) => cell.trim()),
    columns,
    rules,
  );
}

/** Converts a row of values. Empty values are left out, and values other than text keep their type. */
export function recordOf(
  values: readonly (JsonValue | undefined)[],
  columns: readonly FileColumn[],
  rules: RecordRules,
): MadeRecord {
  const { kind, eventName } = rules;
  const record: JsonObject = {};
  for (const [at, column] of columns.entries()) {
    const flaw = putField(record, values[at], column);
    if (flaw) return flaw;
  }
  if (kind === 'events' && eventName !== null) record['name'] ??= eventName;
  const event = typeof record['name'] === 'string' ? record['name'] : '';
  const free: JsonObject = {};
  for (const [at, column] of columns.entries()) {
    const flaw = putFree(free, values[at], { column, kind, event });
    if (flaw) return flaw;
  }
  if (Object.keys(free).length > 0) record[FREE_FORM[kind]] = free;
  return faultOf(record, rules) ?? { record: record as FileRecord };
}

/** Returns a fault if the record lacks a required field. */
function faultOf(record: JsonObject, { kind, equalRowsAreOne }: RecordRules): RowFault | null {
  if (typeof record['external_user_id'] !== 'string')
    return { field: 'external_user_id', message: 'There is no id of the user in this row' };
  if (kind === 'users') return null;
  if (record['name'] === undefined)
    return { field: 'name', message: 'There is no name of the event in this row' };
  if (!equalRowsAreOne && record['occurred_at'] === undefined && record['message_id'] === undefined)
    return { field: 'occurred_at', message: 'The row has neither a time nor an id' };
  return null;
}

function isEmpty(value: JsonValue | undefined): value is undefined {
  return value === undefined || (typeof value === 'string' && value.trim() === '');
}

function putField(record: JsonObject, value: JsonValue | undefined, { target }: FileColumn): RowFault | null {
  if (target.part !== 'field' || value === null || isEmpty(value)) return null;
  const read = readField(value, target.name);
  if ('message' in read) return read;
  record[target.name] = read.value;
  return null;
}

/** Ids and names are text, even if they look like numbers. */
function readField(value: JsonValue, field: FieldName): { value: string } | RowFault {
  if (field === 'occurred_at') {
    const at = typeof value === 'object' ? Number.NaN : readMoment(String(value));
    return Number.isNaN(at) ? fault(field, NO_TIME) : { value: new Date(at).toISOString() };
  }
  if (typeof value === 'string') return { value: value.trim() };
  // JSON has already lost digits of a greater number.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { value: String(value) };
  return fault(field, 'must be a string');
}

type CellContext = { column: FileColumn; kind: FileKind; event: string };

function putFree(free: JsonObject, value: JsonValue | undefined, context: CellContext): RowFault | null {
  const { target } = context.column;
  if (isEmpty(value) || target.part === 'field' || target.part === 'none') return null;
  const read = target.part === 'free' ? readFree(value, target.name, context) : readWhole(value);
  if ('message' in read) return fault(formatTarget(context.kind, target) ?? '', read.message);
  if (target.part === 'free') put(free, target.name, read.value);
  else for (const [key, item] of Object.entries(read.value ?? {})) put(free, key, item);
  return null;
}

type ReadValue = { value: JsonValue } | { message: string };

function readWhole(value: JsonValue): ReadValue {
  const read = typeof value === 'string' ? readCell(value, 'json') : { value };
  if ('message' in read) return read;
  const isObject = typeof read.value === 'object' && read.value !== null && !Array.isArray(read.value);
  return isObject ? read : { message: 'must be an object' };
}

function readFree(value: JsonValue, name: string, { column: { type }, kind, event }: CellContext): ReadValue {
  if (typeof value !== 'string') {
    // JSON values have their own types.
    if (value === null || (type !== 'text' && type !== 'date')) return { value };
    return typeof value === 'object' ? { message: 'must be a string' } : readCell(String(value), type);
  }
  if (type !== 'auto') return readCell(value, type);
  if (kind === 'users' && name === 'signupDate') {
    // The API keeps a value that is not a date as it was sent.
    const at = readMoment(value);
    return { value: Number.isNaN(at) ? value : new Date(at).toISOString() };
  }
  return readCell(value, isText(kind, event, name) ? 'text' : 'auto');
}

const TEXT_TRAITS: ReadonlySet<string> = new Set(['name', 'plan', 'company', 'role']);

/** True for values that are text in the API, whatever they look like. A company may be called 37, and a plan of a canonical event 2026. */
function isText(kind: FileKind, event: string, name: string): boolean {
  if (kind === 'users') return TEXT_TRAITS.has(name);
  const rules = Object.hasOwn(CANONICAL_EVENTS, event) ? CANONICAL_EVENTS[event] : undefined;
  return rules !== undefined && Object.hasOwn(rules, name) && rules[name]?.type === 'string';
}

function fault(field: string, message: string): RowFault {
  return { field, message: `${field} ${message}` };
}

/** A column may have any name, even `__proto__`. */
function put(object: JsonObject, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
