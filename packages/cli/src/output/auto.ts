import type { Cell, Row } from './table.ts';
import type { Block, Details } from './view.ts';
import { plain, span, type Words } from './words.ts';

/** A field by its name, or as `label=field`. */
export type Field<T> = (keyof T & string) | `${string}=${keyof T & string}`;
/** A column of a field, or with a label and a value of its own. */
export type Column<T> = Field<T> | [label: string, value: (item: T, words: Words) => Cell];

type Split<S extends string> = S extends `${infer Name} ${infer Rest}` ? Name | Split<Rest> : S;

/** Columns as one text: `fields('id name invited_by=by')`. */
export function fields<const S extends string>(names: S): Split<S>[] {
  return names.split(' ') as Split<S>[];
}

export function rowOf<T extends object>(item: T, columns: readonly Column<T>[], words: Words): Row {
  const values = new Map<string, unknown>(Object.entries(item));
  return Object.fromEntries(
    columns.map((column) => {
      if (typeof column !== 'string') return [column[0], column[1](item, words)];
      const { name, label } = nameOf(column);
      return [label, cellOf(name, values.get(name), words)];
    }),
  );
}

/** The items as a table. Without a text for an empty list, an empty table is left out with its title. */
export function tableOf<T extends object>(
  head: string | { title?: string; empty: string },
  items: readonly T[],
  columns: readonly Column<T>[],
): Block {
  const named = typeof head === 'string' ? { title: head } : head;
  return (words) => ({ ...named, rows: items.map((item) => rowOf(item, columns, words)) });
}

/** Shows an object of the API: simple fields as label/value lines, texts as blocks, lists of objects as tables. */
export function viewOf<T extends object>(
  data: T,
  names: readonly Field<T>[] = Object.keys(data) as (keyof T & string)[],
): Block {
  return (words) => blocksOf(data, names, words);
}

function blocksOf(data: object, names: readonly string[], words: Words): Block[] {
  const fields = new Map<string, unknown>(Object.entries(data));
  const details: Record<string, Cell> = {};
  const blocks: Block[] = [];
  for (const field of names) {
    const { name, label } = nameOf(field);
    const value = fields.get(name);
    if (typeof value === 'string' && value.includes('\n')) blocks.push(value);
    else if (isTable(value))
      blocks.push({ title: titled(label), rows: value.map((row) => tableRow(row, words)) });
    else if (isNested(value)) blocks.push({ [titled(label)]: linesOf(value, words) });
    else details[label] = cellOf(name, value, words);
  }
  return [details, ...blocks];
}

function nameOf(column: string): { name: string; label: string } {
  const [name = '', label] = column.split('=').toReversed();
  return { name, label: label === undefined ? labelOf(name) : plain(label) };
}

/** `last_used_at` is shown as "last used". */
function labelOf(name: string): string {
  return LABELS.get(name) ?? plain(name.replace(/_at$|_ms$|^is_/g, ''));
}

const LABELS = new Map([
  ['at', 'time'],
  ['occurred_at', 'time'],
  ['external_user_id', 'user'],
  ['first_at', 'first seen'],
  ['last_at', 'last seen'],
  ['is_present', 'current'],
  ['excluded', 'not enrolled'],
]);

function titled(label: string): string {
  return label.charAt(0).toUpperCase() + label.slice(1);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
/** Fields that hold a code of Beckon, not the text of a customer. */
const CODE =
  /(?:^|_)(?:state|status|reason|kind|mode|action|trigger|waits_for|verdict|class|check|off|missing|code)$/;

function cellOf(name: string, value: unknown, words: Words): Cell {
  if (typeof value === 'number') return numberOf(name, value);
  if (value === null || value === undefined || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    if (TIME.test(value)) return words.when(value);
    return CODE.test(name) ? plain(value) : value;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => cellOf(name, item, words) ?? '').join(', ');
  return isNamed(value) ? value.name : textOf(value, words);
}

function numberOf(name: string, value: number): Cell {
  if (name.endsWith('_ms')) return value < 0 ? `-${span(-value)}` : span(value);
  return /(?:^|_)bytes$/.test(name) ? `${(value / 1024 / 1024).toFixed(1)} MiB` : value;
}

/** `{ count: 3, at_least: true }` is shown as "count 3, at least yes". */
function textOf(value: object, words: Words): string {
  return Object.entries(value)
    .map(([name, item]) => `${labelOf(name)} ${cellText(name, item, words)}`)
    .join(', ');
}

function cellText(name: string, value: unknown, words: Words): string {
  const cell = cellOf(name, value, words);
  return typeof cell === 'boolean' ? (cell ? 'yes' : 'no') : String(cell ?? '-');
}

function isTable(value: unknown): value is object[] {
  return Array.isArray(value) && value.some((item) => isObject(item) && !isNamed(item));
}

/** References such as `{ id, name }` are shown by their name alone. */
function isNamed(value: object): value is { name: string } {
  return 'id' in value && 'name' in value && Object.keys(value).length <= REFERENCE_FIELDS_MAX;
}

const REFERENCE_FIELDS_MAX = 3;

function isNested(value: unknown): value is object {
  return isObject(value) && !isNamed(value) && Object.keys(value).length > 0;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tableRow(value: object, words: Words): Row {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => !(typeof item === 'string' && item.includes('\n')))
      .map(([name, item]) => [labelOf(name), cellOf(name, item, words)]),
  );
}

function linesOf(value: object, words: Words): Details[string] {
  return Object.entries(value).map(([name, item]) => `${labelOf(name)}: ${cellText(name, item, words)}`);
}
