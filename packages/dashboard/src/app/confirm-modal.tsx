import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession, useSignIn } from '../api/index.ts';
import { ConfirmForm } from '../screens/account/confirm-form.tsx';

/** Asks the member to confirm who they are, above the page. */
export function ConfirmModal({ opened }: { opened: boolean }): ReactNode {
  const { confirmation } = useSignIn();
  const person = useSession().data?.data.member;
  if (!person) return null;
  return (
    <Modal
      opened={opened}
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
  );
}
