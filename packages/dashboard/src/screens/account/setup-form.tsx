import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { FormError, fieldOf } from './form-error.tsx';
import { NewPasswordInput } from './new-password-input.tsx';

type Values = Record<'email' | 'password' | 'project' | 'name' | 'organization', string>;
const NOTHING: Values = { email: '', password: '', project: '', name: '', organization: '' };
type SetupFormProps = { token: string; onDone: (projectId: number) => void };

/** Asks for as little as possible. Quiet hours start with the browser's time zone; the names are optional. */
export function SetupForm({ token, onDone }: SetupFormProps): ReactNode {
  const [values, setValues] = useState(NOTHING);
  const setup = useChange('POST /setup', {
    onDone: ({ data }) => {
      if (data.project_id !== null) onDone(data.project_id);
    },
  });
  const set = (name: keyof Values) => (value: string) => setValues((was) => ({ ...was, [name]: value }));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const { name, organization, ...fields } = values;
    const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    setup.mutate({
      body: {
        token,
        ...fields,
        time_zone,
        ...(name === '' ? {} : { name }),
        ...(organization === '' ? {} : { organization }),
      },
    });
  };
  const error = (name: string): string | null => fieldOf(setup.error, name);
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Your email"
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus
          value={values.email}
          onChange={(event) => set('email')(event.currentTarget.value)}
          error={error('email')}
        />
        <NewPasswordInput value={values.password} onChange={set('password')} error={error('password')} />
        <TextInput
          label="Project"
          description="The name of your product"
          required
          withAsterisk={false}
          value={values.project}
          onChange={(event) => set('project')(event.currentTarget.value)}
          error={error('project')}
        />
        <OtherNames values={values} set={set} error={error} />
        <FormError error={setup.error} fields={Object.keys(values)} />
        <Button type="submit" loading={setup.isPending}>
          Set up
        </Button>
      </Stack>
    </form>
  );
}

type OtherNamesProps = {
  values: Values;
  set: (name: keyof Values) => (value: string) => void;
  error: (name: string) => string | null;
};

/** Defaults that follow from the other fields. */
function OtherNames({ values, set, error }: OtherNamesProps): ReactNode {
  const [isMore, setMore] = useState(false);
  if (!isMore)
    return (
      <Anchor component="button" type="button" size="sm" ta="start" onClick={() => setMore(true)}>
        Change your name and organization
      </Anchor>
    );
  return (
    <>
      <TextInput
        label="Your name"
        autoComplete="name"
        placeholder={values.email.split('@')[0] ?? ''}
        value={values.name}
        onChange={(event) => set('name')(event.currentTarget.value)}
        error={error('name')}
      />
      <TextInput
        label="Organization"
        placeholder={values.project}
        value={values.organization}
        onChange={(event) => set('organization')(event.currentTarget.value)}
        error={error('organization')}
      />
    </>
  );
}
