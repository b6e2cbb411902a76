import { Button, Stack, Text } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import { DialogFoot } from '../../parts/dialog-foot.tsx';
import { FormError } from './form-error.tsx';
import { usePasskeyConfirmation } from './passkey.ts';
import { CodeField, PasskeyOption, PasswordField } from './sign-in-fields.tsx';

type ConfirmFormProps = {
  email: string;
  /** An authenticator app is set up, so a code is needed as at sign-in. */
  needsCode: boolean;
  onConfirmed: () => void;
  onCancel: () => void;
};

/** Password, with a code where one is set up, or a passkey. */
export function ConfirmForm({ email, needsCode, onConfirmed, onCancel }: ConfirmFormProps): ReactNode {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const confirm = useChange('POST /confirm', { onDone: onConfirmed });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    confirm.mutate({ body: needsCode ? { password, code } : { password } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">
          This adds a way into your account. Confirm that you are {email}. You will not be asked again for ten
          minutes.
        </Text>
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField value={password} onChange={setPassword} error={confirm.error} autoFocus />
        {needsCode && (
          <CodeField
            description="From your authenticator app, or a backup code"
            value={code}
            onChange={setCode}
            error={confirm.error}
          />
        )}
        <FormError error={confirm.error} fields={['password', 'code']} />
        <DialogFoot onCancel={onCancel}>
          <Button type="submit" loading={confirm.isPending}>
            Confirm
          </Button>
        </DialogFoot>
        <Passkey onConfirmed={onConfirmed} />
      </Stack>
    </form>
  );
}

/** Shown to a member who has a passkey. */
function Passkey({ onConfirmed }: { onConfirmed: () => void }): ReactNode {
  const passkeys = useApi('GET /passkeys', {});
  const passkey = usePasskeyConfirmation(onConfirmed);
  return (passkeys.data?.data.length ?? 0) > 0 && <PasskeyOption passkey={passkey} />;
}
