import type { ListResponse, PageQuery } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';

const LIMIT = 50;
/** Counting stops here. */
const COUNTED_MAX = 10_000;

/** The rows that a page needs: one more than it shows, and a count of at most `most`. */
type PageLimits = {
  after: string[] | null;
  offset: number;
  limit: number;
  rowsMax: number;
  most: number;
};

/** A page of a file needs no count, which would be repeated for each of its pages. */
export type ListQuery = PageQuery & { isCounted?: boolean };

/** `parts`: the number of texts in a cursor of this list. */
export function readPage(
  { cursor, offset = 0, limit = LIMIT, isCounted = true }: ListQuery,
  parts: number,
): PageLimits {
  const after = cursor === undefined ? null : readParts(cursor, parts);
  return { after, offset, limit, rowsMax: limit + 1, most: isCounted ? COUNTED_MAX + 1 : 0 };
}

/** `rows`: one more than the page shows, if there are that many. */
export function toPage<Row, Item>(
  rows: Row[],
  { offset, limit }: PageLimits,
  { show, cursorOf, total }: { show: (row: Row) => Item; cursorOf: (row: Row) => string[]; total: number },
): ListResponse<Item> {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    data: page.map(show),
    meta: {
      pagination: { total: Math.min(total, COUNTED_MAX), offset, limit },
      cursor: last === undefined ? null : printParts(cursorOf(last)),
      ...(total > COUNTED_MAX ? { at_least: true as const } : {}),
    },
  };
}

function printParts(parts: string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function readParts(cursor: string, count: number): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(parts) && parts.length === count && parts.every((part) => typeof part === 'string'))
      return parts;
  } catch {
    // An unreadable cursor gets the same error as one of another list.
  }
  throw badCursor();
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Parses the position in a list ordered by time, then by id. */
export function timeAndId([time = '', id = '']: string[]): { at: number; id: string } {
  const at = Number(time);
  if (!/^\d{1,15}$/.test(time) || !UUID.test(id)) throw badCursor();
  return { at, id };
}

export function badCursor(): Fault {
  const message = 'Invalid cursor. Start again without cursor';
  return new Fault('validation_failed', { details: [{ message, field: 'cursor' }] });
}

/** Ids in links may come from anywhere. Text that is not an id matches nothing. */
export function isId(text: string): boolean {
  return UUID.test(text);
}

/** Answers a page of rows in memory. Without a limit, all of them: a project has few rows of these lists. */
export function pageOfAll<T>(
  rows: T[],
  { cursor, offset = 0, limit = rows.length }: PageQuery,
): ListResponse<T> {
  const [from = ''] = cursor === undefined ? [String(offset)] : readParts(cursor, 1);
  const start = Number(from);
  if (!/^\d{1,9}$/.test(from)) throw badCursor();
  const end = start + limit;
  return {
    data: rows.slice(start, end),
    meta: {
      pagination: { total: rows.length, offset, limit },
      cursor: end < rows.length ? printParts([String(end)]) : null,
    },
  };
}

/** Answers a list that is never long enough for pages. */
export function wholeList<T>(data: T[]): ListResponse<T> {
  return { data, meta: { pagination: { total: data.length, offset: 0, limit: data.length }, cursor: null } };
}
