import type { List } from '../api/index.ts';
import type { Failed } from './error-box.tsx';
import type { LoadedQuery } from './page.tsx';

/** The input of a table; the result of `useApiInfinite`. */
export type ListOfRows<Row> = Omit<List<Row>, 'error'> & { error: Failed | null };

/** Rows in memory, with the query that loaded them, if any. */
export function listOf<Row>(rows: Row[], by?: Omit<LoadedQuery<unknown>, 'data'>): ListOfRows<Row> {
  return {
    rows,
    total: rows.length,
    isAtLeast: false,
    isPending: by?.isPending ?? false,
    isStale: false,
    error: by?.error ?? null,
    retry: () => void by?.refetch(),
    hasMore: false,
    isLoadingMore: false,
    loadMore: () => {},
  };
}

/** "214", "1,204", "10,000 or more". */
export function formatCount(total: number, isAtLeast = false): string {
  return `${total.toLocaleString('en-GB')}${isAtLeast ? ' or more' : ''}`;
}
