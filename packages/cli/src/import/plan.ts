import { CANONICAL_EVENTS, type JsonObject, type JsonValue } from '@beckon/contract';
import { usage } from '../failure.ts';
import { FREE_FORM, guess, sayTarget, type Target, targetOf, TEXT_TRAITS } from './fields.ts';
import type { ImportKind, ImportOptions, ValueType } from './options.ts';
import { readAuto, readDate, readTyped, RowProblem } from './values.ts';

export type Rules = Pick<ImportOptions, 'kind' | 'map' | 'types' | 'name' | 'equalRowsAreOne'>;
export type Column = { at: number; name: string; target: Target; type: ValueType | null };
export type ImportRecord = { external_user_id: string; name?: string } & JsonObject;

/** The columns of an earlier run's rejected rows: said of them, and no part of them. */
export const OWN_PREFIX = 'beckon_';

/** Which column becomes what. Refused where the file lacks what was asked for, or what a record cannot be without. */
export function planColumns(names: readonly string[], rules: Rules): Column[] {
  const { kind, map, types } = rules;
  const targets = guess(
    kind,
    names.filter((name) => !name.startsWith(OWN_PREFIX)),
  );
  for (const [field, column] of map) claim(targets, targetOf(kind, field), column);
  const typed = new Map([...types].map(([field, type]) => [sayTarget(kind, targetOf(kind, field)), type]));
  return names.flatMap((name, at) => {
    if (name === '' || name.startsWith(OWN_PREFIX)) return [];
    const target = targets.get(name) ?? { part: 'free', name };
    return [{ at, name, target, type: typed.get(sayTarget(kind, target)) ?? null }];
  });
}

function claim(targets: Map<string, Target>, target: Target, column: string): void {
  for (const [name, { part, name: field }] of targets)
    if (part === target.part && field === target.name) targets.delete(name);
  targets.set(column, target);
}

/** For a file whose columns are the same in every row: better said once than of each. */
export function refuseColumns(names: readonly string[], columns: readonly Column[], rules: Rules): void {
  const { kind, map, name, equalRowsAreOne } = rules;
  const has = (field: string): boolean =>
    columns.some(({ target }) => target.part === 'field' && target.name === field);
  const listed = names.filter((each) => each !== '').join(', ');
  for (const [field, column] of map)
    if (!names.includes(column))
      throw usage(`--map ${field}=${column}: there is no such column, but ${listed}`, '--map');
  const twice = names.find((each, at) => each !== '' && names.indexOf(each) !== at);
  if (twice !== undefined) throw usage(`Two columns are named ${twice}`);
  if (!has('external_user_id'))
    throw usage(
      `No column is the user's id: say which with --map external_user_id=COLUMN, of ${listed}`,
      '--map',
    );
  if (kind === 'users') return;
  if (!has('name') && name === null)
    throw usage(
      `No column is the event's name: say which with --map name=COLUMN, or give it with --name`,
      '--map',
    );
  if (!has('occurred_at') && !has('message_id') && !equalRowsAreOne)
    throw usage(
      'No column says when an event happened or what its id is, so rows that are equal could not be told apart: map ' +
        'occurred_at or message_id, or say --equal-rows-are-one',
      '--map',
    );
}

/** Cells → record, or a `RowProblem`. Empty cells are left out; values that are no text are what they are. */
export function toRecord(
  cells: readonly (JsonValue | undefined)[],
  columns: readonly Column[],
  rules: Rules,
): ImportRecord {
  const { kind } = rules;
  const fields: JsonObject = {};
  const free: JsonObject = {};
  const name = kind === 'events' ? nameOf(cells, columns, rules) : undefined;
  for (const { at, target, type } of columns) {
    const cell = cells[at];
    if (isEmpty(cell)) continue;
    if (target.part === 'field') {
      if (cell !== null) fields[target.name] = fieldValue(cell, target.name, type);
    } else if (target.part === 'whole') {
      for (const [key, value] of Object.entries(wholeOf(cell, target.name))) put(free, key, value);
    } else {
      put(free, target.name, freeValue(cell, { kind, event: name, name: target.name, type }));
    }
  }
  if (name !== undefined) fields['name'] = name;
  if (Object.keys(free).length > 0) fields[FREE_FORM[kind]] = free;
  return checked(fields, rules);
}

/** What JSONL has in the very shape of the wire is taken as it is. */
export function isRecord(row: JsonObject, { kind, map, types, name }: Rules): boolean {
  if (map.size > 0 || types.size > 0 || name !== null || typeof row['external_user_id'] !== 'string')
    return false;
  const known: readonly string[] = WIRE_FIELDS[kind];
  return Object.keys(row).every((key) => known.includes(key));
}

const WIRE_FIELDS = {
  users: ['external_user_id', 'email', 'traits'],
  events: ['external_user_id', 'name', 'properties', 'occurred_at', 'message_id'],
} as const;

export function checked(record: JsonObject, { kind, equalRowsAreOne }: Rules): ImportRecord {
  if (typeof record['external_user_id'] !== 'string')
    throw new RowProblem('There is no id of the user in this row', 'external_user_id');
  if (kind === 'events') {
    if (record['name'] === undefined)
      throw new RowProblem('There is no name of the event in this row', 'name');
    if (!equalRowsAreOne && record['occurred_at'] === undefined && record['message_id'] === undefined)
      throw new RowProblem('There is neither a time nor an id of the event in this row', 'occurred_at');
  }
  return record as ImportRecord;
}

function nameOf(
  cells: readonly (JsonValue | undefined)[],
  columns: readonly Column[],
  { name }: Rules,
): string | undefined {
  const column = columns.find(({ target }) => target.part === 'field' && target.name === 'name');
  const cell = column === undefined ? undefined : cells[column.at];
  if (cell === null || isEmpty(cell)) return name ?? undefined;
  return textOf(cell, 'name');
}

function isEmpty(cell: JsonValue | undefined): cell is undefined {
  return cell === undefined || (typeof cell === 'string' && cell.trim() === '');
}

/** Ids and names are text, whatever they look like. */
function fieldValue(cell: JsonValue, field: string, type: ValueType | null): JsonValue {
  const text = textOf(cell, field);
  if (field === 'occurred_at' || type === 'date') return readDate(text, field);
  return field === 'email' ? text.trim() : text;
}

function textOf(cell: JsonValue, field: string): string {
  if (typeof cell === 'object') throw new RowProblem(`${field} must be a text`, field);
  return String(cell);
}

type Free = { kind: ImportKind; event: string | undefined; name: string; type: ValueType | null };

function freeValue(cell: JsonValue, { kind, event, name, type }: Free): JsonValue {
  const field = `${FREE_FORM[kind]}.${name}`;
  // JSONL has types of its own.
  if (typeof cell !== 'string' && type !== 'text' && type !== 'date') return cell;
  const text = textOf(cell, field);
  if (type !== null) return readTyped(text, type, field);
  return kind === 'users' ? readTrait(text, name) : readProperty(text, event ?? '', name);
}

function readTrait(text: string, name: string): JsonValue {
  if (TEXT_TRAITS.has(name)) return text;
  return name === 'signupDate' ? dateOrText(text) : readAuto(text);
}

/** What has a type in a canonical event would be refused with another. */
function readProperty(text: string, event: string, name: string): JsonValue {
  const rules = Object.hasOwn(CANONICAL_EVENTS, event) ? CANONICAL_EVENTS[event] : undefined;
  const isText = rules !== undefined && Object.hasOwn(rules, name) && rules[name]?.type === 'string';
  return isText ? text : readAuto(text);
}

function dateOrText(cell: string): string {
  try {
    return readDate(cell, 'signupDate');
  } catch {
    // The server keeps what is no date beside the others, as it was sent.
    return cell;
  }
}

function wholeOf(cell: JsonValue, field: string): JsonObject {
  const value = typeof cell === 'string' ? readTyped(cell, 'json', field) : cell;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new RowProblem(`${field} must be an object`, field);
}

/** A column may be called anything, `__proto__` as well. */
function put(object: JsonObject, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
