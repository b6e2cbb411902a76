import type { JsonValue } from '@beckon/contract';
import { cellsOf, type FileColumn } from '@beckon/contract/files';
import { columnsOf } from './file-columns.ts';
import type { FileFormat, ImportFile } from './file-format.ts';
import { parseRow } from './file-row.ts';

export type ErasedPerson = { userId: string; email: string | null };
export type IsTheirs = (text: string) => boolean;

/**
 * Returns a test for rows of this user. The column with the user id decides if it has a value. Other values do not matter then, because
 * another user may have the same address. A row without an id belongs to this user if it contains their id or address.
 */
export function isRowOf(
  person: ErasedPerson,
  { kind, mapping }: Pick<ImportFile, 'kind' | 'mapping'>,
  format: Pick<FileFormat, 'delimiter' | 'columns'>,
): IsTheirs {
  const idIn = idReader({ kind, mapping }, format);
  const isNamedIn = isNaming(person);
  const mayBe = plainRuns(person);
  return function isTheirs(text) {
    if (!mayBe.some((run) => text.toLowerCase().includes(run))) return false;
    const id = idIn(text);
    return id === null ? isNamedIn(text) : id === person.userId || id.trim() === person.userId;
  };
}

/** Reads the user id of a row as written, or returns null for a row without one. */
export function idReader(
  { kind, mapping }: Pick<ImportFile, 'kind' | 'mapping'>,
  { delimiter, columns: names }: Pick<FileFormat, 'delimiter' | 'columns'>,
): (text: string) => string | null {
  const columns = columnsOf(kind, names, mapping);
  return (text) =>
    delimiter === null ? idOfJson(text, kind, mapping) : idOfCells(cellsOf(text, delimiter), columns);
}

/** Reads the user id of JSON, where each row has its own columns. Returns null for invalid JSON or without an id. */
function idOfJson(text: string, kind: ImportFile['kind'], mapping: ImportFile['mapping']): string | null {
  const parsed = parseRow(text);
  if ('problem' in parsed) return null;
  const { row } = parsed;
  const values = Object.values(row as Record<string, JsonValue>);
  return idAmong(values, columnsOf(kind, Object.keys(row), mapping));
}

function idOfCells(cells: string[], columns: FileColumn[]): string | null {
  return cells.length > columns.length ? null : idAmong(cells, columns);
}

function idAmong(values: JsonValue[], columns: FileColumn[]): string | null {
  const id = values[columns.findIndex(isId)];
  if (typeof id !== 'string' && typeof id !== 'number') return null;
  return String(id).trim() === '' ? null : String(id);
}

function isId({ target }: FileColumn): boolean {
  return target.part === 'field' && target.name === 'external_user_id';
}

const SEPARATORS = String.raw`,;|<>(){}\[\]"'\t\r\n`;

/**
 * Returns a test for texts that contain the user's id or address as a whole: as a cell, a value, or a word (`words`). Case matters for an
 * id but not for an address.
 */
export function isNaming({ userId, email }: ErasedPerson, { words = false } = {}): IsTheirs {
  const between = words ? String.raw`${SEPARATORS}\s` : SEPARATORS;
  const before = String.raw`(?<=(?:^|[${between}]|":)\s*)`;
  const after = String.raw`(?=\s*(?:$|[${between}]))`;
  const patterns = [
    [userId, 'u'],
    [email ?? '', 'iu'],
  ].flatMap(([text = '', flags]) => {
    if (text.trim() === '') return [];
    const alternatives = spellings(text).map((spelling) => RegExp.escape(spelling));
    return [new RegExp(`${before}(?:${alternatives.join('|')})${after}`, flags)];
  });
  return (text) => patterns.some((pattern) => pattern.test(text));
}

/** Returns the forms of a text in a CSV cell and in JSON. */
function spellings(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const escaped = (digits: (hex: string) => string): string =>
    json.replaceAll(
      /[\u0080-\uffff]/g,
      (char) => `\\u${digits(char.charCodeAt(0).toString(16).padStart(4, '0'))}`,
    );
  const escapes = [escaped((hex) => hex), escaped((hex) => hex.toUpperCase())];
  return [...new Set([text, text.replaceAll('"', '""'), json, ...escapes])];
}

/** Returns the longest part of id and address that all forms share, in lower case. A text without any of them need not be parsed. */
export function plainRuns({ userId, email }: ErasedPerson): string[] {
  return [userId, ...(email === null ? [] : [email])].map((text) => {
    const runs = text.match(/[\w.@ -]+/g) ?? [''];
    return runs.toSorted((a, b) => b.length - a.length)[0]?.toLowerCase() ?? '';
  });
}
