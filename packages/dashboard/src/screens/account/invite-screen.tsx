import { Button, Stack, Text } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { LinkState } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { useChange, useRefresh, useSession } from '../../api/index.ts';
import { FormError, fieldOf } from './form-error.tsx';
import { LinkPage } from './link-page.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { RequiredInput } from './sign-in-fields.tsx';

const route = getRouteApi('/outside/invite');

export function InviteScreen(): ReactNode {
  const { token = '' } = route.useSearch();
  return (
    <LinkPage title="Invitation" token={token} gone="Ask the member who invited you for a new one.">
      {(link) => <Invitation token={token} link={link} />}
    </LinkPage>
  );
}

function Invitation({ token, link }: { token: string; link: LinkState }): ReactNode {
  const session = useSession();
  const refresh = useRefresh();
  const person = session.data?.data.member;
  const words = (
    <Text size="sm" mb="md">
      {link.email} is invited to <b>{link.organization}</b> as {link.role}.
    </Text>
  );
  if (!link.has_account)
    return (
      <>
        {words}
        <NewcomerForm token={token} email={link.email ?? ''} />
      </>
    );
  return (
    <>
      {words}
      {person ? (
        <JoinButton token={token} />
      ) : (
        <>
          <Muted mb="md">You have an account here. Sign in to join.</Muted>
          <SignInForm onSignedIn={() => void refresh('GET /session')} />
        </>
      )}
    </>
  );
}

/** Joined: cached data belongs to the previous access, so everything reloads. */
function useJoined(): () => void {
  const navigate = useNavigate();
  const refresh = useRefresh();
  return () => {
    void refresh('GET /session', 'GET /projects').then(() => navigate({ to: '/' }));
  };
}

function JoinButton({ token }: { token: string }): ReactNode {
  const accept = useChange('POST /invites/accept', { onDone: useJoined() });
  return (
    <Stack gap="sm">
      <FormError error={accept.error} />
      <Button loading={accept.isPending} onClick={() => accept.mutate({ body: { token } })}>
        Join
      </Button>
    </Stack>
  );
}

function NewcomerForm({ token, email }: { token: string; email: string }): ReactNode {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useChange('POST /invites/accept', { onDone: useJoined() });
  const submit = (): void => accept.mutate({ body: { token, name, password } });
  return (
    <Form onSubmit={submit} gap="sm">
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <RequiredInput
        label="Your name"
        autoComplete="name"
        autoFocus
        value={name}
        onType={setName}
        error={fieldOf(accept.error, 'name')}
      />
      <NewPasswordInput value={password} onChange={setPassword} error={fieldOf(accept.error, 'password')} />
      <FormError error={accept.error} fields={['name', 'password']} />
      <SubmitButton change={accept}>Join</SubmitButton>
    </Form>
  );
}
