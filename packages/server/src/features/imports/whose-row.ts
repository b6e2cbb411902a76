import type { JsonValue } from '@beckon/contract';
import { cellsOf, type FileColumn } from '@beckon/contract/files';
import { columnsOf } from './file-columns.ts';
import type { FileFormat } from './file-format.ts';
import type { ImportFile } from './file-source.ts';
import { parseRow } from './parse-row.ts';

export type ErasedPerson = { userId: string; email: string | null };
export type IsTheirs = (text: string) => boolean;

/**
 * Whether a row is this person's. Whose it is says its column with the id of the user, and where that is another's it is theirs,
 * whatever else stands in it: they may have the same mailbox. A row that says no id is this person's if it names them.
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

/** The id of the user in a row, as it is written there; null where the row says none. */
export function idReader(
  { kind, mapping }: Pick<ImportFile, 'kind' | 'mapping'>,
  { delimiter, columns: names }: Pick<FileFormat, 'delimiter' | 'columns'>,
): (text: string) => string | null {
  const columns = columnsOf(kind, names, mapping);
  return (text) =>
    delimiter === null ? idOfJson(text, kind, mapping) : idOfCells(cellsOf(text, delimiter), columns);
}

/** Of JSON whose columns have the names that it gives them itself; null where it is none, or says no id. */
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
 * Whether the person's id or address stands in a text as a whole: as a cell of its own, a value, a word (`words`). Capitals of an
 * address do not matter; those of an id do.
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
    const some = spellings(text).map((one) => RegExp.escape(one));
    return [new RegExp(`${before}(?:${some.join('|')})${after}`, flags)];
  });
  return (text) => patterns.some((pattern) => pattern.test(text));
}

/** What a text is in a CSV cell, and in JSON. */
function spellings(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const escaped = (digits: (hex: string) => string): string =>
    json.replaceAll(
      /[\u0080-\uffff]/g,
      (char) => `\\u${digits(char.charCodeAt(0).toString(16).padStart(4, '0'))}`,
    );
  const both = [escaped((hex) => hex), escaped((hex) => hex.toUpperCase())];
  return [...new Set([text, text.replaceAll('"', '""'), json, ...both])];
}

/** Of id and address the longest piece that is spelled alike everywhere, in lower case: what has none of them need not be read. */
export function plainRuns({ userId, email }: ErasedPerson): string[] {
  return [userId, ...(email === null ? [] : [email])].map((text) => {
    const runs = text.match(/[\w.@ -]+/g) ?? [''];
    return runs.toSorted((a, b) => b.length - a.length)[0]?.toLowerCase() ?? '';
  });
}
