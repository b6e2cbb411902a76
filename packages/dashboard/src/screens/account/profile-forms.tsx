import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { notify } from '../../parts/index.ts';
import { FormError, fieldOf } from './form-error.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { PasswordField } from './sign-in-fields.tsx';

export function NameForm({ name, email }: { name: string; email: string }): ReactNode {
  const [value, setValue] = useState(name);
  const rename = useChange('POST /profile', {
    refreshes: ['GET /session'],
    onDone: () => notify('Name saved'),
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    rename.mutate({ body: { name: value } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={440}>
        <TextInput
          label="Display name"
          description={`You sign in as ${email}`}
          autoComplete="name"
          required
          withAsterisk={false}
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
          error={fieldOf(rename.error, 'name')}
        />
        <FormError error={rename.error} fields={['name']} />
        <Group>
          <Button type="submit" variant="default" disabled={value === name} loading={rename.isPending}>
            Save name
          </Button>
        </Group>
      </Stack>
    </form>
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
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    change.mutate({ body: { current, new: newPassword, end_passkeys_and_tokens: endsOthers } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={440}>
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
          checked={endsOthers}
          onChange={(event) => setEndsOthers(event.currentTarget.checked)}
        />
        <FormError error={change.error} fields={['password', 'new']} />
        <Group>
          <Button type="submit" variant="default" loading={change.isPending}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
