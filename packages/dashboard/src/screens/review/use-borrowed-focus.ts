import { type RefObject, useEffect } from 'react';
import { useFocusBack } from '../../parts/index.ts';

/** Takes the focus on request, and returns it to the previous element. */
export function useBorrowedFocus(place: RefObject<HTMLElement | null>, isWanted: boolean): void {
  useFocusBack(isWanted);
  useEffect(() => {
    if (isWanted) place.current?.focus();
  }, [place, isWanted]);
}
