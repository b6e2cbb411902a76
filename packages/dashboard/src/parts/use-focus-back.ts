import { useEffect, useRef } from 'react';

/** Longer than the code that closes a dialog needs to move the focus elsewhere. */
const AFTER_MS = 20;

/**
 * Returns the focus to the previous element, unless it moved elsewhere. Mantine's dialogs do so when they are
 * closed, except dialogs that are loaded on opening: they never saw the previous element.
 */
export function useFocusBack(isActive: boolean): void {
  const before = useRef<Element>(null);
  const giving = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (!isActive) return undefined;
    // Focused again before the focus was returned.
    clearTimeout(giving.current);
    before.current ??= document.activeElement;
    return () => {
      const atClose = document.activeElement;
      giving.current = setTimeout(() => {
        const [to, now] = [before.current, document.activeElement];
        before.current = null;
        const isLost = now === document.body || now === atClose;
        if (isLost && to instanceof HTMLElement && to.isConnected) to.focus({ preventScroll: true });
      }, AFTER_MS);
    };
  }, [isActive]);
}
