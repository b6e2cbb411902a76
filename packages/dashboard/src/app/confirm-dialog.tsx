import { type ReactNode, useSyncExternalStore } from 'react';
import { useSignIn } from '../api/index.ts';
import { later, WhenOpened } from '../parts/index.ts';

const ConfirmModal = later(() => import('./confirm-modal.tsx'), 'ConfirmModal', null);

/**
 * Opens above the page. The rejected call waits, and is repeated after the confirmation. Only pages outside of projects (the profile,
 * `/device`) make such calls, so only their frame has it.
 */
export function ConfirmDialog(): ReactNode {
  const { confirmation } = useSignIn();
  const isOpen = useSyncExternalStore(confirmation.subscribe, confirmation.isOpen);
  return (
    <WhenOpened opened={isOpen}>
      <ConfirmModal opened={isOpen} />
    </WhenOpened>
  );
}
