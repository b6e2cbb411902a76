import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRefresh, useSession, useSignIn } from '../../api/index.ts';
import { Redirect } from '../../parts/redirect.tsx';
import { Narrow } from './narrow.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { safeNext } from './words.ts';

const route = getRouteApi('/outside/sign-in');

export function SignInScreen(): ReactNode {
  const { next } = route.useSearch();
  const session = useSession();
  const refresh = useRefresh();
  const signIn = useSignIn();
  const signedIn = (): void => {
    // A failed call of the previous page would otherwise open the sign-in dialog here.
    signIn.finish();
    void refresh('GET /session');
  };
  const state = session.data?.data;
  if (state && !state.set_up) return <Redirect to="/setup" />;
  if (state?.member) return <Redirect href={safeNext(next)} />;
  return (
    <Narrow title="Sign in">
      <SignInForm onSignedIn={signedIn} />
    </Narrow>
  );
}
