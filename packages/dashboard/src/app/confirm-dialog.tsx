import { Modal } from '@mantine/core';
import { type ReactNode, useSyncExternalStore } from 'react';
import { useSession, useSignIn } from '../api/index.ts';
import { later, WhenOpened } from '../parts/index.ts';

const ConfirmForm = later(() => import('../screens/account/confirm-form.tsx'), 'ConfirmForm');

/**
 * Opens above the page. The rejected call waits, and is repeated after the confirmation. Only pages outside of projects (the profile,
 * `/device`) make such calls, so only their frame has it.
 */
export function ConfirmDialog(): ReactNode {
  const { confirmation } = useSignIn();
  const person = useSession().data?.data.member;
  const isOpen = useSyncExternalStore(confirmation.subscribe, confirmation.isOpen);
  if (!person) return null;
  return (
    <WhenOpened opened={isOpen}>
      <Modal
        opened={isOpen}
        onClose={() => confirmation.close(false)}
        title="Confirm that it is you"
        zIndex={900}
      >
        <ConfirmForm
          email={person.email}
          needsCode={person.two_factor}
          onConfirmed={() => confirmation.close(true)}
          onCancel={() => confirmation.close(false)}
        />
      </Modal>
    </WhenOpened>
  );
}
