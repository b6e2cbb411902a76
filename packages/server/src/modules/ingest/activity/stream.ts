import { Fault } from '../../../platform/fault.ts';
import { FILTER_KEYS } from '@beckon/contract/dashboard';
import type { Filter } from '../../../platform/filter/filter.ts';
import { readFilter } from '../../../platform/filter/parse.ts';

export const ACTIVITY_KINDS = [
  'user_created',
  'user_changed',
  'user_erased',
  'audience_joined',
  'audience_left',
  'audience_built',
  'bulk_change',
] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];
/**
 * A draft as created and an email as claimed, both with their current state. `draft_changed` and `outcome` are the later changes of a draft
 * and the outcomes of an email.
 */
export type EmailKind = 'draft' | 'draft_changed' | 'email' | 'outcome';
export type StreamType = 'request' | 'event' | EmailKind | ActivityKind;

/** A recorded change of a user or an audience. */
export type ActivityRow = {
  projectId: number;
  /** Now, in whole milliseconds. Followers miss rows that are dated more than a few seconds back. */
  at: Date;
  id: string;
  kind: ActivityKind;
  userId: string | null;
  audienceId: string | null;
  /** A JSON object as text. */
  detail: string;
};

/** Requests to one endpoint within a quarter second that had the same response. */
export type RequestItem = {
  at: string;
  id: string;
  type: 'request';
  endpoint: string;
  status: number;
  code: string | null;
  requests: number;
  accepted: number;
  rejected: number;
  /** The id of the last request. */
  request_id: string;
  /** The key, the total size of the bodies, and the slowest request. Null if they were not recorded. */
  key_id: string | null;
  bytes: number | null;
  slowest_ms: number | null;
  /** The first errors in records of the last request. */
  faults: { index: number | null; field: string | null; message: string }[] | null;
};

export type EventItem = {
  at: string;
  id: string;
  type: 'event';
  external_user_id: string;
  name: string;
  properties: Record<string, unknown>;
  occurred_at: string;
  accepted_at: string;
  suppressed: boolean;
};

/** A change with the additional fields of its kind. */
export type ActivityItem = {
  at: string;
  id: string;
  type: ActivityKind | EmailKind;
  external_user_id?: string;
  audience_id?: string;
  /** The name of the audience; null once it is deleted. */
  audience?: string | null;
  [detail: string]: unknown;
};

export type StreamItem = RequestItem | EventItem | ActivityItem;

/** Parses a filter as a member typed it. An invalid filter is reported with its reason. */
export function readStreamFilter(text: string): Filter {
  return readFilter(text, FILTER_KEYS.activity);
}

/** Does the same for lists of requests only, and rejects fields that requests do not have. */
export function readRequestFilter(text: string): Filter {
  const { terms } = readFilter(text, FILTER_KEYS.requests);
  return { terms: [...terms, { key: 'type', negated: false, values: [['request']] }] };
}

/** A position in the stream, as opaque text. */
export type Cursor = string;

/** The position of an item, unique to it. The stream is ordered by `at`, then by `id`. */
export type StreamPosition = { at: Date; id: string };

export function cursorOf(item: { at: string; id: string }): Cursor {
  return printCursor({ at: new Date(item.at), id: item.id });
}

/** Returns the position before everything that happened at this time. Times are limited to the years 1970 to 5188. */
export function cursorOfTime(at: Date): Cursor {
  return printCursor(positionOfTime(new Date(Math.min(Math.max(at.getTime(), 0), CURSOR_MS_MAX))));
}

/** The last time that fits into a cursor. */
const CURSOR_MS_MAX = 36 ** 9 - 1;

/** No item has this id, so the position is between items of two times. */
const NIL = '00000000-0000-0000-0000-000000000000';

export function positionOfTime(at: Date): StreamPosition {
  return { at, id: NIL };
}

/** Returns the position directly before this one: no item is in between. */
export function positionBefore({ at, id }: StreamPosition): StreamPosition {
  if (id === NIL) return { at: new Date(at.getTime() - 1), id: LAST };
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return { at, id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') };
}

const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export function printCursor({ at, id }: StreamPosition): Cursor {
  return Buffer.from(`${at.getTime().toString(36)}.${id.replaceAll('-', '')}`).toString('base64url');
}

/** Returns the time of the item at this position. */
export function momentOf(cursor: Cursor): Date {
  return readCursor(cursor).at;
}

const CURSOR = /^([0-9a-z]{1,9})\.([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

export function readCursor(cursor: Cursor): StreamPosition {
  const parts = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!parts) {
    const details = [
      { message: 'The cursor is invalid. Use a next_cursor that the server returned', field: 'cursor' },
    ];
    throw new Fault('validation_failed', { details });
  }
  const [, ms = '', ...id] = parts;
  return { at: new Date(Number.parseInt(ms, 36)), id: id.join('-') };
}
