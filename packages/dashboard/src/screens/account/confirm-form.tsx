import { Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import { DialogFoot } from '../../parts/dialog-foot.tsx';
import { FormError, fieldOf } from './form-error.tsx';
import { usePasskeyConfirmation } from './passkey.ts';

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
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldOf(confirm.error, 'password')}
        />
        {needsCode && (
          <TextInput
            label="Code"
            description="From your authenticator app, or a backup code"
            autoComplete="one-time-code"
            required
            withAsterisk={false}
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            error={fieldOf(confirm.error, 'code')}
          />
        )}
        <FormError error={confirm.error} fields={['password', 'code']} />
        <DialogFoot onCancel={onCancel}>
          <Button type="submit" loading={confirm.isPending}>
            Confirm
          </Button>
        </DialogFoot>
        <PasskeyButton onConfirmed={onConfirmed} />
      </Stack>
    </form>
  );
}

function PasskeyButton({ onConfirmed }: { onConfirmed: () => void }): ReactNode {
  const passkeys = useApi('GET /passkeys', {});
  const passkey = usePasskeyConfirmation(onConfirmed);
  if (!passkey.isPossible || (passkeys.data?.data.length ?? 0) === 0) return null;
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
