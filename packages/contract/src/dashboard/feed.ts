import type { Many, One, PageQuery, Raw } from './envelope.ts';

/**
 * Server-sent events. Each is an item of the project's stream, as `message`, with its place as id: whoever comes back with
 * `Last-Event-ID` misses nothing, and may hear some again. The first thing said is the place where it begins, as an id without
 * an event and as the comment `place <id>`: whoever was told nothing comes back there. `filter` is the grammar of all lists. A browser that hands its one
 * feed from tab to tab says by `last_event_id` where the other one was; the header, where there is one, is later.
 * An event `gap` says that whoever comes back was away for too long: what they have is old, and what came meanwhile is not told.
 * An event `end` says that no more comes, and why: come back (`stopping`), sign in (`signed_out`), or leave it to the others
 * (`too_many`).
 */
export type FeedApi = {
  'GET /projects/:project/feed': { query: { filter?: string; last_event_id?: string }; answer: Raw };
  /**
   * Earlier items, the newest first. A page of a narrow filter may have few items or none, and a cursor. `since`: nothing that
   * happened before this time.
   */
  'GET /projects/:project/stream': {
    query: Omit<PageQuery, 'offset'> & { filter?: string; since?: string };
    answer: Many<FeedItem>;
  };
  /** One item, by the id that the feed gave it: a link that stays. */
  'GET /projects/:project/stream/:place': { answer: One<FeedItem> };
};

export type FeedEnd = { reason: 'stopping' | 'signed_out' | 'too_many' };

/** An item of the stream; what else it has depends on its type. */
export type FeedItem = {
  id: string;
  at: string;
  type: FeedType;
  /** Its place, as the feed gives it as id. */
  place: string;
  external_user_id?: string;
  /** Who did it, where a person did: `actor` is stable, this is for reading. */
  actor?: string;
  actor_name?: string;
  draft_id?: string;
  email_id?: string;
  rule?: string;
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
