import { Center, Loader } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useDeferredValue, useEffect, useState } from 'react';
import { useSession, useSignIn } from '../api/index.ts';
import { ErrorBox } from '../parts/index.ts';
import { Redirect } from '../parts/redirect.tsx';

/**
 * Redirects members who are not signed in to the sign-in page, and afterwards back to the requested page. If a session ends later, a
 * sign-in dialog opens above the page, and nothing is lost.
 */
export function Gate({ children }: { children: ReactNode }): ReactNode {
  const session = useSession();
  const { href } = useLocation();
  const person = session.data?.data.member;
  const isIn = useWasIn(person);
  // The whole frame follows, so it is rendered in pieces of some milliseconds.
  const isReady = useDeferredValue(isIn);
  if (isIn && isReady) return children;
  const { data, error } = session;
  if (data === undefined || isIn)
    return (
      <Center mih="60vh" p="md" aria-busy={error === null}>
        {error ? (
          <ErrorBox error={error} retry={() => void session.refetch()} />
        ) : (
          <Loader size="sm" aria-label="Loading" />
        )}
      </Center>
    );
  if (!data.data.set_up) return <Redirect to="/setup" />;
  return <Redirect to="/sign-in" search={{ next: href }} />;
}

/** `undefined`: not known yet. */
function useWasIn(person: object | null | undefined): boolean {
  const signIn = useSignIn();
  const [wasIn, setWasIn] = useState(false);
  if (person && !wasIn) setWasIn(true);
  const isOut = wasIn && person === null;
  useEffect(() => {
    if (isOut) void signIn.again();
  }, [isOut, signIn]);
  return wasIn || Boolean(person);
}
