import { type RefObject, useEffect } from 'react';
import { useFocusBack } from '../../parts/index.ts';

/** Takes the focus when it is wanted, and gives it back to who had it. */
export function useBorrowedFocus(place: RefObject<HTMLElement | null>, isWanted: boolean): void {
  useFocusBack(isWanted);
  useEffect(() => {
    if (isWanted) place.current?.focus();
  }, [place, isWanted]);
}
