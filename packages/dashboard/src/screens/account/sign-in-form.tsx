import { Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { CodeForm } from './code-form.tsx';
import { FormError, fieldOf } from './form-error.tsx';
import { usePasskeySignIn } from './passkey.ts';

type Step = 'password' | 'code' | 'forgot';

/** Password, passkey, code or backup code; on a page of its own, and above any page whose session has ended. */
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
  onDone: (done: { needsCode: boolean }) => void;
};

function PasswordForm({ email, onEmail, onForgot, onDone }: PasswordFormProps): ReactNode {
  const [password, setPassword] = useState('');
  const signIn = useChange('POST /sign-in', {
    onDone: ({ data }) => onDone({ needsCode: data.two_factor }),
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    signIn.mutate({ body: { email, password } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username webauthn"
          required
          withAsterisk={false}
          data-autofocus
          autoFocus
          value={email}
          onChange={(event) => onEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldOf(signIn.error, 'password')}
        />
        <FormError error={signIn.error} fields={['password']} />
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
        <Anchor component="button" type="button" size="sm" onClick={onForgot} ta="start">
          I forgot my password
        </Anchor>
        <PasskeyButton onDone={() => onDone({ needsCode: false })} />
      </Stack>
    </form>
  );
}

function PasskeyButton({ onDone }: { onDone: () => void }): ReactNode {
  const passkey = usePasskeySignIn(onDone);
  if (!passkey.isPossible) return null;
  return (
    <>
      <Divider label="or" labelPosition="center" />
      <Button
        variant="default"
        leftSection={<KeyRound size={16} aria-hidden="true" />}
        loading={passkey.isPending}
        onClick={passkey.start}
      >
        Use a passkey
      </Button>
      {passkey.trouble !== null && (
        <Text size="sm" role="alert" c="var(--mantine-color-error)">
          {passkey.trouble}
        </Text>
      )}
    </>
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
            If {email} has an account here, a letter with a link is on its way. It works once, within an hour.
            No letter? Whoever runs this server makes a link with <code>team reset-link</code>.
          </Text>
        ) : (
          <>
            <TextInput
              label="E-mail"
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
              Send me a link
            </Button>
          </>
        )}
        <Anchor component="button" type="button" size="sm" onClick={onBack} ta="start">
          Back to signing in
        </Anchor>
      </Stack>
    </form>
  );
}
