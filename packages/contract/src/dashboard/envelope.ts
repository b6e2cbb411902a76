import Type, { type Static, type TObject, type TOptional, type TUnsafe } from 'typebox';
import { LIST_SORTS, type SortedList, type SortOf } from './list-orders.ts';

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

/** Rows that a bulk action refused, by the reason, most frequent first. */
export type BulkRefusal = { message: string; rows: number };

/** A response other than JSON: an email in its frame, a file, a feed. */
export type Raw = { readonly raw: true };

/** Declares the response of an endpoint. Responses are not validated, so only the type is declared. */
export function item<T>(): TUnsafe<ItemResponse<T>> {
  return Type.Unsafe<ItemResponse<T>>({});
}

export function list<T>(): TUnsafe<ListResponse<T>> {
  return Type.Unsafe<ListResponse<T>>({});
}

export function raw(): TUnsafe<Raw> {
  return Type.Unsafe<Raw>({});
}

/** The query parameters of every list. */
export const PAGE = {
  cursor: Type.Optional(Type.String({ maxLength: 2_000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
};
export type PageQuery = Static<TObject<typeof PAGE>>;

/** The filter of a list, in the filter syntax of lists. */
export const FILTER = Type.Optional(Type.String({ maxLength: 1_000 }));

/** The order of a list: a column, with `-` in front for descending. */
export function sortOf<L extends SortedList>(list: L): TOptional<TUnsafe<SortOf<L>>> {
  return Type.Optional(oneOf<SortOf<L>>(LIST_SORTS[list]));
}

/** How the frame shows an email: for a light or dark screen, and with or without remote images, which are fetched through Beckon. */
export const FRAME = {
  scheme: Type.Optional(oneOf(['light', 'dark'])),
  images: Type.Optional(oneOf(['hide', 'show'])),
};
export type FrameQuery = Static<TObject<typeof FRAME>>;

/** One of these texts. A validation error lists them. */
export function oneOf<T extends string>(values: readonly T[]): TUnsafe<T> {
  return Type.Unsafe<T>(Type.Union(values.map((value) => Type.Literal(value))));
}
