import { TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { FormError, fieldOf } from './form-error.tsx';
import { NewPasswordInput } from './new-password-input.tsx';
import { Form } from '../../parts/form.tsx';
import { TextButton } from '../../parts/text-button.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { EmailInput, RequiredInput } from './sign-in-fields.tsx';
import { textProps } from '../../parts/bind.ts';

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
  const submit = (): void => {
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
    <Form onSubmit={submit} gap="sm">
      <EmailInput label="Your email" value={values.email} onType={set('email')} error={error('email')} />
      <NewPasswordInput value={values.password} onChange={set('password')} error={error('password')} />
      <RequiredInput
        label="Project"
        description="The name of your product"
        value={values.project}
        onType={set('project')}
        error={error('project')}
      />
      <OtherNames values={values} set={set} error={error} />
      <FormError error={setup.error} fields={Object.keys(values)} />
      <SubmitButton change={setup}>Set up</SubmitButton>
    </Form>
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
    return <TextButton onClick={() => setMore(true)}>Change your name and organization</TextButton>;
  return (
    <>
      <TextInput
        label="Your name"
        autoComplete="name"
        placeholder={values.email.split('@')[0] ?? ''}
        {...textProps(values.name, set('name'))}
        error={error('name')}
      />
      <TextInput
        label="Organization"
        placeholder={values.project}
        {...textProps(values.organization, set('organization'))}
        error={error('organization')}
      />
    </>
  );
}
