import { Checkbox, Group } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { notify } from '../../parts/index.ts';
import { FormError, fieldOf } from './form-error.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { PasswordField, RequiredInput } from './sign-in-fields.tsx';
import { Form } from '../../parts/form.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { tickProps } from '../../parts/bind.ts';

export function NameForm({ name, email }: { name: string; email: string }): ReactNode {
  const [value, setValue] = useState(name);
  const rename = useChange('POST /profile', {
    refreshes: ['GET /session'],
    onDone: () => notify('Name saved'),
  });
  const submit = (): void => rename.mutate({ body: { name: value } });
  return (
    <Form onSubmit={submit} gap="sm" maw={440}>
      <RequiredInput
        label="Display name"
        description={`You sign in as ${email}`}
        autoComplete="name"
        value={value}
        onType={setValue}
        error={fieldOf(rename.error, 'name')}
      />
      <FormError error={rename.error} fields={['name']} />
      <Group>
        <SubmitButton change={rename} variant="default" disabled={value === name}>
          Save name
        </SubmitButton>
      </Group>
    </Form>
  );
}

export function PasswordForm({ email }: { email: string }): ReactNode {
  const [current, setCurrent] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const [endsOthers, setEndsOthers] = useState(true);
  const change = useChange('POST /password', {
    refreshes: ['GET /session', 'GET /sessions', 'GET /passkeys', 'GET /profile/tokens'],
    onDone: () => {
      setCurrent('');
      setNewPassword('');
      notify('Password changed');
    },
  });
  const submit = (): void =>
    change.mutate({ body: { current, new: newPassword, end_passkeys_and_tokens: endsOthers } });
  return (
    <Form onSubmit={submit} gap="sm" maw={440}>
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <PasswordField label="Current password" value={current} onChange={setCurrent} error={change.error} />
      <NewPasswordInput
        label="New password"
        value={newPassword}
        onChange={setNewPassword}
        error={fieldOf(change.error, 'new')}
      />
      <Checkbox
        label="Remove all passkeys and revoke all personal tokens"
        description="Keep this selected if someone else may have used your account."
        {...tickProps(endsOthers, setEndsOthers)}
      />
      <FormError error={change.error} fields={['password', 'new']} />
      <Group>
        <SubmitButton change={change} variant="default">
          Change password
        </SubmitButton>
      </Group>
    </Form>
  );
}
