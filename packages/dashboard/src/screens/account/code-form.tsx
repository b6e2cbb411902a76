import { Anchor, Button, Stack, Text } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { FormError } from './form-error.tsx';
import { CodeField } from './sign-in-fields.tsx';

type CodeFormProps = { onSignedIn: () => void; onBack: () => void };

/** The second step of a sign-in: a code of the authenticator app, or a backup code. */
export function CodeForm({ onSignedIn, onBack }: CodeFormProps): ReactNode {
  const [isBackup, setBackup] = useState(false);
  const [code, setCode] = useState('');
  const byApp = useChange('POST /sign-in/totp', { onDone: onSignedIn });
  const byBackup = useChange('POST /sign-in/backup-code', { onDone: onSignedIn });
  const change = isBackup ? byBackup : byApp;
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    change.mutate({ body: { code } });
  };
  const toggle = (): void => {
    setCode('');
    setBackup(!isBackup);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {isBackup
            ? 'Enter one of your backup codes. Each works once.'
            : 'Enter the code that your authenticator app shows.'}
        </Text>
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
        <Button type="submit" loading={change.isPending}>
          Sign in
        </Button>
        <Anchor component="button" type="button" size="sm" onClick={toggle} ta="start">
          {isBackup ? 'Use the authenticator app' : 'Use a backup code'}
        </Anchor>
        <Anchor component="button" type="button" size="sm" onClick={onBack} ta="start">
          Start again
        </Anchor>
      </Stack>
    </form>
  );
}
