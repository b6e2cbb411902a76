import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react';
import { useSession, useSignIn } from '../api/index.ts';
import { later, WhenOpened } from '../parts/index.ts';

const SignInModal = later(() => import('./sign-in-modal.tsx'), 'SignInModal', null);

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
    <WhenOpened opened={isWaiting}>
      <SignInModal opened={isWaiting} onSignedIn={() => void signedIn()} />
    </WhenOpened>
  );
}
