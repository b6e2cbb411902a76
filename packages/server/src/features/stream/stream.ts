import { Fault } from '../../base/fault.ts';
import { type Filter, parseFilter, type Vocabulary } from '../../base/filter/index.ts';

export const CHANGE_KINDS = [
  'user_created',
  'user_changed',
  'user_erased',
  'audience_joined',
  'audience_left',
  'audience_built',
  'bulk_change',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];
/**
 * A draft as it was made, and a letter as it was claimed; both tell how they stand now. What was done to a draft after it was
 * made, and what became of a letter.
 */
export type LetterKind = 'draft' | 'draft_changed' | 'email' | 'outcome';
const LETTER_KINDS = ['draft', 'draft_changed', 'email', 'outcome'] as const satisfies LetterKind[];
export type StreamType = 'request' | 'event' | LetterKind | ChangeKind;

/** What happened to a person or an audience, as it is written down. */
export type ChangeRow = {
  projectId: number;
  /** Now, in whole milliseconds: what is dated further back than a few seconds is missed by those who follow. */
  at: Date;
  id: string;
  kind: ChangeKind;
  userId: string | null;
  audienceId: string | null;
  /** JSON text of an object. */
  detail: string;
};

/** Requests of one endpoint within a quarter second that were answered alike. */
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
  /** Of the last one. */
  request_id: string;
  /** Null where that was not noted: by which key, of all bodies together, and the slowest of them. */
  key_id: string | null;
  bytes: number | null;
  slowest_ms: number | null;
  /** What was wrong with which record of the last one, the first of them. */
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

/** With all that its kind has to say beside. */
export type ChangeItem = {
  at: string;
  id: string;
  type: ChangeKind | LetterKind;
  external_user_id?: string;
  audience_id?: string;
  /** Its name; null once it is deleted. */
  audience?: string | null;
  [detail: string]: unknown;
};

export type StreamItem = RequestItem | EventItem | ChangeItem;

const STREAM_VOCABULARY = {
  type: { values: ['request', 'event', ...LETTER_KINDS, ...CHANGE_KINDS] },
  name: {},
  user: {},
  audience: {},
  rule: {},
  status: {},
  endpoint: {},
  code: {},
  key: {},
} satisfies Vocabulary;

/** The filter that was typed; whatever is wrong with it is said to whoever typed it. */
export function readStreamFilter(text: string): Filter {
  const parsed = parseFilter(text, STREAM_VOCABULARY);
  if (!parsed.ok) throw new Fault('validation_failed', { details: parsed.faults });
  return parsed.filter;
}

const REQUEST_VOCABULARY = { status: {}, endpoint: {}, code: {}, key: {} } satisfies Vocabulary;

/** The same where only requests are listed: what they do not have is refused. */
export function readRequestFilter(text: string): Filter {
  const parsed = parseFilter(text, REQUEST_VOCABULARY);
  if (!parsed.ok) throw new Fault('validation_failed', { details: parsed.faults });
  return { terms: [...parsed.filter.terms, { key: 'type', negated: false, values: [['request']] }] };
}

/** A place in the stream, as text that means nothing to those who keep it. */
export type Cursor = string;

/** Every item has one of its own; the stream is in the order of `at`, then of `id`. */
export type Place = { at: Date; id: string };

export function cursorOf(item: { at: string; id: string }): Cursor {
  return printCursor({ at: new Date(item.at), id: item.id });
}

/** The place before everything that happened at this moment; nothing happened before 1970 or after the year 5188, whatever is asked. */
export function cursorOfTime(at: Date): Cursor {
  return printCursor(placeOfTime(new Date(Math.min(Math.max(at.getTime(), 0), CURSOR_MS_MAX))));
}

/** The last moment that a cursor has room for. */
const CURSOR_MS_MAX = 36 ** 9 - 1;

/** No item has this id, so the place lies between moments. */
const NIL = '00000000-0000-0000-0000-000000000000';

export function placeOfTime(at: Date): Place {
  return { at, id: NIL };
}

/** No item lies between this place and the one that is given. */
export function placeBefore({ at, id }: Place): Place {
  if (id === NIL) return { at: new Date(at.getTime() - 1), id: LAST };
  const hex = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return { at, id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') };
}

const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export function printCursor({ at, id }: Place): Cursor {
  return Buffer.from(`${at.getTime().toString(36)}.${id.replaceAll('-', '')}`).toString('base64url');
}

/** When what stands at this place happened. */
export function momentOf(cursor: Cursor): Date {
  return readCursor(cursor).at;
}

const CURSOR = /^([0-9a-z]{1,9})\.([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

export function readCursor(cursor: Cursor): Place {
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
