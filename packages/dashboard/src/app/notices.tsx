import { Notifications } from '@mantine/notifications';
import { type ReactNode, useEffect, useRef } from 'react';
import { useKeys } from '../parts/index.ts';
import { loadUndoToast, undoLast } from '../parts/undo.tsx';

const PLACE = 'bottom-left';
const GAP_PX = 24;

/** The place of notifications, and the key that undoes what they report. Pages end above them, so that no action is covered. */
export default function Notices(): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useKeys('Everywhere', { u: { label: 'Undo', run: undoLast } }, { inDialog: true });
  useEffect(() => {
    // Loaded in advance: an action without a response is offered for undo while the server is unreachable.
    void loadUndoToast();
    const container = place.current?.querySelector(`[data-position="${PLACE}"]`);
    if (!container) throw new Error('the notifications have no container');
    const sizes = new ResizeObserver(() => {
      const height = container.clientHeight;
      const space = height === 0 ? 0 : height + GAP_PX;
      document.documentElement.style.setProperty('--beckon-notices', `${space}px`);
    });
    sizes.observe(container);
    return () => sizes.disconnect();
  }, []);
  return (
    <div ref={place}>
      <Notifications position={PLACE} containerWidth={420} withinPortal={false} />
    </div>
  );
}
