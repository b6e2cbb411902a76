import Type from 'typebox';
import { FILTER, item, list, raw } from './envelope.ts';

const Cursor = Type.String({ maxLength: 200 });

/**
 * Server-sent events.
 *
 * - `message`: an item of the project's stream. The event ID is the item's place in the stream. A client that reconnects with
 *   `Last-Event-ID` misses no item, and may receive some items twice.
 * - The stream begins with its start place, as an ID without an event and as the comment `place <id>`. A client that received
 *   no item reconnects there.
 * - `gap`: the client was disconnected for too long. Items in between are not sent, and the client's data is out of date.
 * - `end`: no more items follow. The reason says what to do: reconnect (`stopping`), sign in (`signed_out`), or close this feed
 *   because too many are open (`too_many`).
 *
 * `filter` uses the filter syntax of lists. `last_event_id`: where another tab of the browser stopped; a `Last-Event-ID` header
 * takes precedence.
 */
export const FEED_API = {
  'GET /projects/:project/feed': {
    query: Type.Object({ filter: FILTER, last_event_id: Type.Optional(Cursor) }),
    response: raw(),
  },
  /**
   * Earlier items, newest first. With a selective filter, a page can have few or no items and still have a cursor. `since`: leaves
   * out items before this time.
   */
  'GET /projects/:project/stream': {
    query: Type.Object({
      filter: FILTER,
      cursor: Type.Optional(Cursor),
      since: Type.Optional(Type.String({ maxLength: 50 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
    }),
    response: list<FeedItem>(),
  },
  /** One item by its place in the stream, for permanent links. */
  'GET /projects/:project/stream/:place': { response: item<FeedItem>() },
};

export type FeedEnd = { reason: 'stopping' | 'signed_out' | 'too_many' };

/** An item of the stream. Further fields depend on its type. */
export type FeedItem = {
  id: string;
  at: string;
  type: FeedType;
  /** The item's place in the stream, which is its event ID in the feed. */
  place: string;
  external_user_id?: string;
  /** The member who did it. `actor` is a stable ID; `actor_name` is for display. */
  actor?: string;
  actor_name?: string;
  draft_id?: string;
  email_id?: string;
  rule?: string;
  /** The rules that an event started, in the order of their names. */
  started?: { id: string; name: string }[];
  [name: string]: unknown;
};

export type FeedType =
  | 'request'
  | 'event'
  | 'draft'
  | 'draft_changed'
  | 'email'
  | 'outcome'
  | 'user_created'
  | 'user_changed'
  | 'user_erased'
  | 'audience_joined'
  | 'audience_left'
  | 'audience_built'
  | 'bulk_change';
