import type { Failed } from './error-box.tsx';

/** What a table needs to know of its rows; `useApiInfinite` gives it. */
export type ListOfRows<Row> = {
  rows: Row[];
  total: number;
  isAtLeast: boolean;
  isPending: boolean;
  isStale: boolean;
  error: Failed | null;
  retry: () => void;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
};

/** Rows that are all at hand. */
export function listOf<Row>(
  rows: Row[],
  more: Partial<Pick<ListOfRows<Row>, 'isPending' | 'error' | 'retry'>> = {},
): ListOfRows<Row> {
  return {
    rows,
    total: rows.length,
    isAtLeast: false,
    isPending: false,
    isStale: false,
    error: null,
    retry: () => {},
    hasMore: false,
    isLoadingMore: false,
    loadMore: () => {},
    ...more,
  };
}

/** "214", "1,204", "10,000 or more". */
export function formatCount(total: number, isAtLeast = false): string {
  return `${total.toLocaleString('en-GB')}${isAtLeast ? ' or more' : ''}`;
}
