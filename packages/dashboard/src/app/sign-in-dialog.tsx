import { Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react';
import { useSession, useSignIn } from '../api/index.ts';
import { later } from '../parts/index.ts';

const SignInForm = later(() => import('../screens/account/sign-in-form.tsx'), 'SignInForm');

/**
 * Opens above the page when a session ends. The page below stays mounted, and its failed calls are repeated
 * afterwards. If another member signs in, the page reloads.
 */
export function SignInDialog(): ReactNode {
  const signIn = useSignIn();
  const client = useQueryClient();
  const session = useSession();
  const isWaiting = useSyncExternalStore(signIn.subscribe, signIn.isWaiting);
  const was = useRef<string | null>(null);
  const person = session.data?.data.member?.id;
  useEffect(() => {
    if (person !== undefined && !isWaiting) was.current = person;
  }, [person, isWaiting]);
  const signedIn = async (): Promise<void> => {
    const { data } = await session.refetch();
    const now = data?.data.member?.id;
    if (now === undefined) return;
    if (was.current !== null && was.current !== now) {
      location.reload();
      return;
    }
    signIn.finish();
    await client.invalidateQueries();
  };
  return (
    <Modal
      opened={isWaiting}
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
      <SignInForm onSignedIn={() => void signedIn()} />
    </Modal>
  );
}
