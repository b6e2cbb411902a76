import { Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import { DialogFoot } from '../../parts/dialog-foot.tsx';
import { FormError } from './form-error.tsx';
import { usePasskeyConfirmation } from './passkey.ts';
import { CodeField, PasskeyOption, PasswordField } from './sign-in-fields.tsx';
import { Form } from '../../parts/form.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

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
  const submit = (): void => confirm.mutate({ body: needsCode ? { password, code } : { password } });
  return (
    <Form onSubmit={submit} gap="sm">
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
        <SubmitButton change={confirm}>Confirm</SubmitButton>
      </DialogFoot>
      <Passkey onConfirmed={onConfirmed} />
    </Form>
  );
}

/** Shown to a member who has a passkey. */
function Passkey({ onConfirmed }: { onConfirmed: () => void }): ReactNode {
  const passkeys = useApi('GET /passkeys', {});
  const passkey = usePasskeyConfirmation(onConfirmed);
  return (passkeys.data?.data.length ?? 0) > 0 && <PasskeyOption passkey={passkey} />;
}
