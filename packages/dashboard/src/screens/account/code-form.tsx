import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { FormError } from './form-error.tsx';
import { CodeField } from './sign-in-fields.tsx';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { TextButton } from '../../parts/text-button.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

type CodeFormProps = { onSignedIn: () => void; onBack: () => void };

/** The second step of a sign-in: a code of the authenticator app, or a backup code. */
export function CodeForm({ onSignedIn, onBack }: CodeFormProps): ReactNode {
  const [isBackup, setBackup] = useState(false);
  const [code, setCode] = useState('');
  const byApp = useChange('POST /sign-in/totp', { onDone: onSignedIn });
  const byBackup = useChange('POST /sign-in/backup-code', { onDone: onSignedIn });
  const change = isBackup ? byBackup : byApp;
  const submit = (): void => change.mutate({ body: { code } });
  const toggle = (): void => {
    setCode('');
    setBackup(!isBackup);
  };
  return (
    <Form onSubmit={submit} gap="sm">
      <Muted>
        {isBackup
          ? 'Enter one of your backup codes. Each works once.'
          : 'Enter the code that your authenticator app shows.'}
      </Muted>
      <CodeField
        key={String(isBackup)}
        label={isBackup ? 'Backup code' : 'Code'}
        inputMode={isBackup ? 'text' : 'numeric'}
        autoFocus
        value={code}
        onChange={setCode}
        error={change.error}
      />
      <FormError error={change.error} fields={['code']} />
      <SubmitButton change={change}>Sign in</SubmitButton>
      <TextButton onClick={toggle}>{isBackup ? 'Use the authenticator app' : 'Use a backup code'}</TextButton>
      <TextButton onClick={onBack}>Start again</TextButton>
    </Form>
  );
}
