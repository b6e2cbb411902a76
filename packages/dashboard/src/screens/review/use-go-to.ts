import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useRef } from 'react';

const route = getRouteApi('/p/$project/review');

/** The width below which the list and the draft are shown one at a time, as in `review.module.css`. */
const STACKED = '(max-width: 48em)';

/**
 * Returns a function that puts a draft into the URL, or none for the list. Beside the list this adds nothing to the history. On a phone an
 * opened draft is a page of its own, and Back leads to the list.
 */
export function useGoTo(): (draft: string | undefined) => void {
  const { draft: named } = route.useSearch();
  const navigate = route.useNavigate();
  const { history } = useRouter();
  const isAdded = useRef(false);
  return (draft) => {
    const isOpening = named === undefined && draft !== undefined && matchMedia(STACKED).matches;
    if (named !== undefined && draft === undefined && isAdded.current) {
      isAdded.current = false;
      history.back();
      return;
    }
    if (isOpening) isAdded.current = true;
    void navigate({ search: (was) => ({ ...was, draft }), replace: !isOpening });
  };
}
