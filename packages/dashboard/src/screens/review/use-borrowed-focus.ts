import { type RefObject, useEffect } from 'react';
import { useFocusBack } from '../../parts/index.ts';

/** Takes the focus on request, and returns it to the previous element. */
export function useBorrowedFocus(target: RefObject<HTMLElement | null>, isActive: boolean): void {
  useFocusBack(isActive);
  useEffect(() => {
    if (isActive) target.current?.focus();
  }, [target, isActive]);
}
