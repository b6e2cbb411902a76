import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/**
 * A page that is left takes the focus with it. Who hears the page, or walks it by keyboard, begins the next one at its heading;
 * a filter or a row that is written into the address moves nothing.
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
