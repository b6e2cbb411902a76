import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { CodeForm } from './code-form.tsx';
import { FormError, fieldOf } from './form-error.tsx';
import { usePasskeySignIn } from './passkey.ts';
import { PasskeyOption, PasswordField } from './sign-in-fields.tsx';

type Step = 'password' | 'code' | 'forgot';

/** Signs in with a password and code, or with a passkey. Shown on its own page, and above a page whose session has ended. */
export function SignInForm({ onSignedIn }: { onSignedIn: () => void }): ReactNode {
  const [step, setStep] = useState<Step>('password');
  const [email, setEmail] = useState('');
  if (step === 'code') return <CodeForm onSignedIn={onSignedIn} onBack={() => setStep('password')} />;
  if (step === 'forgot')
    return <ForgotForm email={email} onEmail={setEmail} onBack={() => setStep('password')} />;
  return (
    <PasswordForm
      email={email}
      onEmail={setEmail}
      onForgot={() => setStep('forgot')}
      onDone={({ needsCode }) => (needsCode ? setStep('code') : onSignedIn())}
    />
  );
}

type PasswordFormProps = {
  email: string;
  onEmail: (email: string) => void;
  onForgot: () => void;
  onDone: (result: { needsCode: boolean }) => void;
};

function PasswordForm({ email, onEmail, onForgot, onDone }: PasswordFormProps): ReactNode {
  const [password, setPassword] = useState('');
  const signIn = useChange('POST /sign-in', {
    onDone: ({ data }) => onDone({ needsCode: data.two_factor }),
  });
  const passkey = usePasskeySignIn(() => onDone({ needsCode: false }));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    signIn.mutate({ body: { email, password } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Email"
          type="email"
          autoComplete="username webauthn"
          required
          withAsterisk={false}
          data-autofocus
          autoFocus
          value={email}
          onChange={(event) => onEmail(event.currentTarget.value)}
        />
        <PasswordField value={password} onChange={setPassword} error={signIn.error} />
        <FormError error={signIn.error} fields={['password']} />
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
        <Anchor component="button" type="button" size="sm" onClick={onForgot} ta="start">
          Forgot password?
        </Anchor>
        <PasskeyOption passkey={passkey} />
      </Stack>
    </form>
  );
}

type ForgotFormProps = { email: string; onEmail: (email: string) => void; onBack: () => void };

function ForgotForm({ email, onEmail, onBack }: ForgotFormProps): ReactNode {
  const forgot = useChange('POST /forgot');
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    forgot.mutate({ body: { email } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {forgot.isSuccess ? (
          <Text size="sm" role="status">
            If {email} has an account here, an email with a link is on its way. The link works once, within an
            hour. No email? The operator of this server can create a link with <code>team reset-link</code>.
          </Text>
        ) : (
          <>
            <TextInput
              label="Email"
              type="email"
              autoComplete="username"
              required
              withAsterisk={false}
              autoFocus
              value={email}
              onChange={(event) => onEmail(event.currentTarget.value)}
              error={fieldOf(forgot.error, 'email')}
            />
            <FormError error={forgot.error} fields={['email']} />
            <Button type="submit" loading={forgot.isPending}>
              Send reset link
            </Button>
          </>
        )}
        <Anchor component="button" type="button" size="sm" onClick={onBack} ta="start">
          Back to sign-in
        </Anchor>
      </Stack>
    </form>
  );
}
