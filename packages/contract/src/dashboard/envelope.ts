/** One thing, as the interface wraps it. */
export type One<T> = { data: T };

/**
 * A list, as the interface wraps it. `cursor` reads on where this page ends (null: there is no more) and stays right while rows
 * come and go; `offset` is for who jumps. Counting has a bound: where `at_least` is true there are more than `total`.
 */
export type Many<T> = {
  data: T[];
  meta: {
    pagination: { total: number; offset: number; limit: number };
    cursor: string | null;
    at_least?: true;
  };
};

/** What every list may be asked. */
export type PageQuery = { cursor?: string; offset?: number; limit?: number };

/** How a letter is shown in its frame: for which screen, and whether with images from elsewhere, which come through us. */
export type FrameQuery = { scheme?: 'light' | 'dark'; images?: 'hide' | 'show' };

/** An answer that is no JSON: a letter in its frame, a file, a feed. */
export type Raw = { readonly raw: true };
