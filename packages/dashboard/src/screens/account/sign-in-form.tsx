import { Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { CodeForm } from './code-form.tsx';
import { FormError, fieldOf } from './form-error.tsx';
import { usePasskeySignIn } from './passkey.ts';
import { EmailInput, PasskeyOption, PasswordField } from './sign-in-fields.tsx';
import { Form } from '../../parts/form.tsx';
import { TextButton } from '../../parts/text-button.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

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
  const submit = (): void => signIn.mutate({ body: { email, password } });
  return (
    <Form onSubmit={submit} gap="sm">
      <EmailInput autoComplete="username webauthn" data-autofocus value={email} onType={onEmail} />
      <PasswordField value={password} onChange={setPassword} error={signIn.error} />
      <FormError error={signIn.error} fields={['password']} />
      <SubmitButton change={signIn}>Sign in</SubmitButton>
      <TextButton onClick={onForgot}>Forgot password?</TextButton>
      <PasskeyOption passkey={passkey} />
    </Form>
  );
}

type ForgotFormProps = { email: string; onEmail: (email: string) => void; onBack: () => void };

function ForgotForm({ email, onEmail, onBack }: ForgotFormProps): ReactNode {
  const forgot = useChange('POST /forgot');
  const submit = (): void => forgot.mutate({ body: { email } });
  return (
    <Form onSubmit={submit} gap="sm">
      {forgot.isSuccess ? (
        <Text size="sm" role="status">
          If {email} has an account here, an email with a link is on its way. The link works once, within an
          hour. No email? The operator of this server can create a link with <code>team reset-link</code>.
        </Text>
      ) : (
        <>
          <EmailInput value={email} onType={onEmail} error={fieldOf(forgot.error, 'email')} />
          <FormError error={forgot.error} fields={['email']} />
          <SubmitButton change={forgot}>Send reset link</SubmitButton>
        </>
      )}
      <TextButton onClick={onBack}>Back to sign-in</TextButton>
    </Form>
  );
}
