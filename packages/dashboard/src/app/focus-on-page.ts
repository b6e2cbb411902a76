import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { forgetFocus } from './keep-focus.ts';

/**
 * Moves the focus to the heading after navigation, for screen readers and keyboards. A change of the filter or row in the URL moves
 * nothing.
 */
export function useFocusOnPage(): void {
  const router = useRouter();
  useEffect(() => {
    let stopWaiting = (): void => {};
    const unsubscribe = router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
      if (!pathChanged || !fromLocation) return;
      stopWaiting();
      forgetFocus();
      stopWaiting = focusTitle();
    });
    return () => {
      unsubscribe();
      stopWaiting();
    };
  }, [router]);
}

/** The first visit of a page whose parts are loaded later shows its heading after a moment. Returns a function that stops waiting for it. */
function focusTitle(): () => void {
  const before = document.activeElement;
  const focus = (): boolean => {
    const title = document.getElementById('page-title');
    title?.focus({ preventScroll: true });
    return title !== null;
  };
  if (focus()) return () => {};
  const changes = new MutationObserver(() => {
    // The member may have moved the focus by then.
    const hasMoved = document.activeElement !== before && document.activeElement !== document.body;
    if (hasMoved || focus()) changes.disconnect();
  });
  changes.observe(document.body, { childList: true, subtree: true });
  return () => changes.disconnect();
}
