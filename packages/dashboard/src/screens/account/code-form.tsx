import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { FormError, fieldOf } from './form-error.tsx';

type CodeFormProps = { onSignedIn: () => void; onBack: () => void };

/** The second step of who has an authenticator app: its code, or one of the codes that were kept for the day it is lost. */
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
  const turn = (): void => {
    setCode('');
    setBackup(!isBackup);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {isBackup
            ? 'Type one of the backup codes that you kept. Each works once.'
            : 'Type the code that your authenticator app shows.'}
        </Text>
        <TextInput
          key={String(isBackup)}
          label={isBackup ? 'Backup code' : 'Code'}
          inputMode={isBackup ? 'text' : 'numeric'}
          autoComplete="one-time-code"
          required
          withAsterisk={false}
          autoFocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={fieldOf(change.error, 'code')}
        />
        <FormError error={change.error} fields={['code']} />
        <Button type="submit" loading={change.isPending}>
          Sign in
        </Button>
        <Anchor component="button" type="button" size="sm" onClick={turn} ta="start">
          {isBackup ? 'Use the authenticator app' : 'Use a backup code'}
        </Anchor>
        <Anchor component="button" type="button" size="sm" onClick={onBack} ta="start">
          Begin again
        </Anchor>
      </Stack>
    </form>
  );
}
