/** A single object in its envelope. */
export type ItemResponse<T> = { data: T };

/**
 * A list in its envelope. `cursor` continues after this page (null: it is the last), also when rows are added or removed. `offset` jumps to
 * a row. The count is limited: `at_least` means that there are more than `total`.
 */
export type ListResponse<T> = {
  data: T[];
  meta: {
    pagination: { total: number; offset: number; limit: number };
    cursor: string | null;
    at_least?: true;
  };
};

/** The query parameters of every list. */
export type PageQuery = { cursor?: string; offset?: number; limit?: number };

/** How the frame shows an email: for a light or dark screen, and with or without remote images, which are fetched through Beckon. */
export type FrameQuery = { scheme?: 'light' | 'dark'; images?: 'hide' | 'show' };

/** A response other than JSON: an email in its frame, a file, a feed. */
export type Raw = { readonly raw: true };
