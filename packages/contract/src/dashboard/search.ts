import Type from 'typebox';
import { item, list, oneOf } from './envelope.ts';
import { SUGGESTED_KINDS, type SuggestedKind } from './lists.ts';

/** A shorter text matches too many rows to be of use. */
export const SEARCH_TEXT_MIN_CHARS = 2;

export type FoundKind = 'user' | 'rule' | 'email' | 'audience' | 'template' | 'event' | 'webhook';

/**
 * A match of the search. `id` is what the URL of its page has: an id, or the name of a template or event. An email is a draft or an email
 * that was sent, with the id of its draft.
 */
export type Found = { kind: FoundKind; id: string; label: string; detail: string | null };

/** At most five matches of each kind. `partial`: a part of the search took too long and was ended. */
export type SearchResult = { found: Found[]; partial: boolean };

/** A value that a filter can have. `label`: its name, if the value is an id. */
export type SuggestedValue = { value: string; label: string | null };

export const SEARCH_API = {
  /** At most ten values that contain `text`. Traits and events that are seldom used may be missing. */
  'GET /projects/:project/filter-values': {
    query: Type.Object({
      of: oneOf<SuggestedKind>(SUGGESTED_KINDS),
      text: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    response: list<SuggestedValue>(),
  },
  'GET /projects/:project/search': {
    query: Type.Object({ text: Type.String({ minLength: SEARCH_TEXT_MIN_CHARS, maxLength: 200 }) }),
    response: item<SearchResult>(),
  },
};
