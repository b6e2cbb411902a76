import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { Empty } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { FormError, fieldOf } from './form-error.tsx';
import { LinkPage } from './link-page.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

const route = getRouteApi('/outside/reset');

export function ResetScreen(): ReactNode {
  const { token = '' } = route.useSearch();
  return (
    <LinkPage title="New password" token={token} gone="Request a new link on the sign-in page.">
      {(link) => <ResetForm token={token} email={link.email ?? ''} />}
    </LinkPage>
  );
}

function ResetForm({ token, email }: { token: string; email: string }): ReactNode {
  const [password, setPassword] = useState('');
  const reset = useChange('POST /reset');
  const submit = (): void => reset.mutate({ body: { token, password } });
  if (reset.isSuccess)
    return (
      <Empty
        title="New password saved"
        action={
          <LinkButton variant="filled" to="/sign-in">
            Sign in
          </LinkButton>
        }
      >
        All earlier sessions, passkeys and personal tokens of this account have ended.
      </Empty>
    );
  return (
    <Form onSubmit={submit} gap="sm">
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <NewPasswordInput
        label={`New password for ${email}`}
        value={password}
        onChange={setPassword}
        error={fieldOf(reset.error, 'password')}
      />
      <Muted>This ends all sessions, passkeys and personal tokens of this account.</Muted>
      <FormError error={reset.error} fields={['password']} />
      <SubmitButton change={reset}>Save password</SubmitButton>
    </Form>
  );
}
