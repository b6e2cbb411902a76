import { Modal, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { SignInForm } from '../screens/account/sign-in-form.tsx';

type Props = { opened: boolean; onSignedIn: () => void };

/** Asks for the sign-in above the page. It cannot be closed without it. */
export function SignInModal({ opened, onSignedIn }: Props): ReactNode {
  return (
    <Modal
      opened={opened}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
      zIndex={1_000}
    >
      <Text size="sm" mb="md">
        Sign in again. Your typed text is kept.
      </Text>
      <SignInForm onSignedIn={onSignedIn} />
    </Modal>
  );
}
