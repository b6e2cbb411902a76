import Type from 'typebox';
import { item } from './envelope.ts';

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

export const SEARCH_API = {
  'GET /projects/:project/search': {
    query: Type.Object({ text: Type.String({ minLength: SEARCH_TEXT_MIN_CHARS, maxLength: 200 }) }),
    response: item<SearchResult>(),
  },
};
