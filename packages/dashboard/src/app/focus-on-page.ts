import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/**
 * Moves the focus to the heading after navigation, for screen readers and keyboards. A change of the filter or row in the URL moves
 * nothing.
 */
export function useFocusOnPage(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        if (!pathChanged || !fromLocation) return;
        document.getElementById('page-title')?.focus({ preventScroll: true });
      }),
    [router],
  );
}
