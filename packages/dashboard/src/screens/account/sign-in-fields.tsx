import { Button, Divider, PasswordInput, Text, TextInput, type TextInputProps } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ApiError } from '../../api/index.ts';
import { fieldOf } from './form-error.tsx';
import type { PasskeyUse } from './passkey.ts';

/** `error`: the failed request, whose message for this field is shown. `autoFocus`: also as the first field of a dialog. */
type FieldProps = {
  label?: string;
  value: string;
  onChange: (value: string) => void;
  error: ApiError | null;
  autoFocus?: boolean;
};

/** The member's current password. */
export function PasswordField({
  label = 'Password',
  value,
  onChange,
  error,
  autoFocus = false,
}: FieldProps): ReactNode {
  return (
    <PasswordInput
      label={label}
      autoComplete="current-password"
      required
      withAsterisk={false}
      data-autofocus={autoFocus || undefined}
      autoFocus={autoFocus}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={fieldOf(error, 'password')}
    />
  );
}

type CodeFieldProps = FieldProps & Pick<TextInputProps, 'description' | 'inputMode'>;

/** A code of the authenticator app, or a backup code. */
export function CodeField({ label = 'Code', value, onChange, error, ...rest }: CodeFieldProps): ReactNode {
  return (
    <TextInput
      label={label}
      autoComplete="one-time-code"
      required
      withAsterisk={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={fieldOf(error, 'code')}
      {...rest}
    />
  );
}

/** The button below a password form. Shows nothing in a browser without passkeys. */
export function PasskeyOption({ passkey }: { passkey: PasskeyUse }): ReactNode {
  if (!passkey.isPossible) return null;
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
      <PasskeyError message={passkey.problem} />
    </>
  );
}

export function PasskeyError({ message }: { message: string | null }): ReactNode {
  if (message === null) return null;
  return (
    <Text size="sm" role="alert" c="var(--mantine-color-error)">
      {message}
    </Text>
  );
}
