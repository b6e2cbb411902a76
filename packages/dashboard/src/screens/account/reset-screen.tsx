import { Button, Stack, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { Empty } from '../../parts/index.ts';
import { FormError, fieldOf } from './form-error.tsx';
import { LinkLoaded } from './link-loaded.tsx';
import { Narrow } from './narrow.tsx';
import { NewPasswordInput } from './new-password-input.tsx';

const route = getRouteApi('/outside/reset');

export function ResetScreen(): ReactNode {
  const { token = '' } = route.useSearch();
  return (
    <Narrow title="New password">
      <LinkLoaded token={token} gone="Request a new link on the sign-in page.">
        {(link) => <ResetForm token={token} email={link.email ?? ''} />}
      </LinkLoaded>
    </Narrow>
  );
}

function ResetForm({ token, email }: { token: string; email: string }): ReactNode {
  const [password, setPassword] = useState('');
  const reset = useChange('POST /reset');
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    reset.mutate({ body: { token, password } });
  };
  if (reset.isSuccess)
    return (
      <Empty
        title="New password saved"
        action={<Button renderRoot={(props) => <Link {...props} to="/sign-in" />}>Sign in</Button>}
      >
        All earlier sessions, passkeys and personal tokens of this account have ended.
      </Empty>
    );
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <NewPasswordInput
          label={`New password for ${email}`}
          value={password}
          onChange={setPassword}
          error={fieldOf(reset.error, 'password')}
        />
        <Text size="sm" c="dimmed">
          This ends all sessions, passkeys and personal tokens of this account.
        </Text>
        <FormError error={reset.error} fields={['password']} />
        <Button type="submit" loading={reset.isPending}>
          Save password
        </Button>
      </Stack>
    </form>
  );
}
