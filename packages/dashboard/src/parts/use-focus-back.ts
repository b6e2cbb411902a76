import { useEffect, useRef } from 'react';

/** Longer than it takes who closes to move the focus on by themselves. */
const AFTER_MS = 20;

/**
 * Gives the focus back to who had it when this took it, unless it has gone on by itself. Mantine's dialogs do so when they are
 * closed, but not those that are loaded as they open: they never saw who had it.
 */
export function useFocusBack(isTaken: boolean): void {
  const before = useRef<Element>(null);
  const giving = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (!isTaken) return undefined;
    // Taken again before it was given back.
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
  }, [isTaken]);
}
