import { Fault } from '../../../platform/fault.ts';
import { type Filter, NO_FILTER } from '../../../platform/filter/filter.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  countItems,
  findScanEnd,
  listPage,
  type Order,
  type StreamRange,
  type StreamRow,
} from './page-store.ts';
import {
  type ActivityKind,
  type Cursor,
  type EmailKind,
  type StreamPosition,
  positionBefore,
  positionOfTime,
  printCursor,
  readCursor,
  type RequestItem,
  type StreamItem,
} from './stream.ts';

export type ReadStreamOptions = {
  projectId: number;
  filter: Filter;
  /** A position from which to read on, oldest first. Null reads the newest items first. */
  after: Cursor | null;
  /** Only items before this position. */
  before?: Cursor | undefined;
  /** Only items at this time or later. */
  since?: Date | undefined;
  limit: number;
};

export type StreamPage = {
  /** A selective filter may return few items or none although there are more. */
  items: StreamItem[];
  /** The position from which to read on, as `after` or, newest first, as `before`. Null if there was nothing to read. */
  cursor: Cursor | null;
  /** There may be more items in this direction already. */
  more: boolean;
};

export const STREAM_PAGE_MAX = 1_000;

export async function readStream(tx: Tx, options: ReadStreamOptions): Promise<StreamPage> {
  const { projectId, filter, limit } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > STREAM_PAGE_MAX) {
    const details = [
      { message: `limit must be a whole number from 1 to ${STREAM_PAGE_MAX}`, field: 'limit' },
    ];
    throw new Fault('validation_failed', { details });
  }
  const after = options.after === null ? null : readCursor(options.after);
  const since = options.since ? positionOfTime(options.since) : null;
  const before = options.before === undefined ? null : readCursor(options.before);
  const range: StreamRange = { projectId, filter, after: later(after, since), before };
  const order = after ? 'oldest_first' : 'newest_first';
  const { items, end, more } = await readPage(tx, range, { order, limit });
  return { items, cursor: end ? printCursor(end) : null, more };
}

export type StreamCount = { count: number; isAll: boolean };

/** Counts the items, up to `most` and up to the scan limit. */
export async function countStream(
  tx: Tx,
  {
    projectId,
    filter,
    since,
    most,
  }: Pick<ReadStreamOptions, 'projectId' | 'filter' | 'since'> & { most: number },
): Promise<StreamCount> {
  const range: StreamRange = { projectId, filter, after: since ? positionOfTime(since) : null, before: null };
  const end = await findScanEnd(tx, range, { order: 'newest_first', rows: ROWS_SCANNED_MAX });
  const from = later(range.after, end && positionBefore(end));
  const count = await countItems(tx, { ...range, after: from }, most + 1);
  return { count: Math.min(count, most), isAll: end === null && count <= most };
}

/** Returns the item at this position, or undefined if it does not exist (any more). */
export async function findItem(
  tx: Tx,
  { projectId, cursor }: { projectId: number; cursor: Cursor },
): Promise<StreamItem | undefined> {
  const position = readCursor(cursor);
  const range: StreamRange = { projectId, filter: NO_FILTER, after: positionBefore(position), before: null };
  const [row] = await listPage(tx, range, { order: 'oldest_first', limit: 1, through: position });
  return row && toItem(row);
}

export type ActivityPage = { items: StreamItem[]; end: StreamPosition | null; more: boolean };

/** A page with a selective filter ends after scanning this many rows, even if it is empty. */
const ROWS_SCANNED_MAX = 20_000;

export async function readPage(
  tx: Tx,
  range: StreamRange,
  { order, limit }: { order: Order; limit: number },
): Promise<ActivityPage> {
  const through = await findScanEnd(tx, range, { order, rows: Math.max(ROWS_SCANNED_MAX, limit) });
  const rows = await listPage(tx, range, { order, limit, through });
  const isFull = rows.length === limit;
  const last = rows.at(-1) ?? null;
  return {
    items: rows.map(toItem),
    end: isFull ? last : (through ?? last),
    more: isFull || through !== null,
  };
}

function later(a: StreamPosition | null, b: StreamPosition | null): StreamPosition | null {
  if (!a || !b) return a ?? b;
  return b.at > a.at ? b : a;
}

function toItem(row: StreamRow): StreamItem {
  const { id, type, external_user_id, audience_id, audience, detail } = row;
  const at = row.at.toISOString();
  if (type === 'request') return { at, id, type, ...(detail as Omit<RequestItem, 'at' | 'id' | 'type'>) };
  if (type === 'event') {
    return {
      at,
      id,
      type,
      external_user_id: external_user_id ?? '',
      name: row.name ?? '',
      properties: detail,
      occurred_at: row.occurred_at?.toISOString() ?? at,
      accepted_at: row.accepted_at?.toISOString() ?? at,
      suppressed: row.suppressed ?? false,
    };
  }
  return {
    at,
    id,
    type: type as ActivityKind | EmailKind,
    ...(external_user_id === null ? {} : { external_user_id }),
    ...(audience_id === null ? {} : { audience_id, audience }),
    // Fields of the kind never replace the fields that every item has.
    ...Object.fromEntries(Object.entries(detail).filter(([name]) => !FIXED.has(name))),
  };
}

const FIXED: ReadonlySet<string> = new Set([
  'at',
  'id',
  'type',
  'external_user_id',
  'audience_id',
  'audience',
]);
