import type { HomeCounts, ItemResponse } from '@beckon/contract/dashboard';
import { useApi, useFeed, useRefresh } from '../api/index.ts';
import type { NavPage } from './nav-page.ts';

const COUNT_EVERY_MS = 60_000;
const COUNTED = new Set(['draft', 'draft_changed', 'email', 'outcome']);

/** Refreshes the counts of the badges after changes, at most every two seconds, and at least once a minute. */
export function useCounts(): ItemResponse<HomeCounts> | undefined {
  const refresh = useRefresh();
  const counts = useApi('GET /projects/:project/counts', {}, { everyMs: COUNT_EVERY_MS, staleTimeMs: 2_000 });
  useFeed(
    ({ type }) => COUNTED.has(type),
    () => {
      if (!counts.isFetching && Date.now() - counts.dataUpdatedAt > 2_000)
        void refresh('GET /projects/:project/counts');
    },
  );
  return counts.data;
}

/** The text of a page's badge; null: the page has none, or its count is zero. */
export function badgeText({ badge }: NavPage, counts: ItemResponse<HomeCounts> | undefined): string | null {
  const counted = badge === undefined ? undefined : counts?.data[badge];
  if (!counted || counted.count === 0) return null;
  return `${counted.count.toLocaleString('en-GB')}${counted.at_least ? '+' : ''}`;
}
