import { Divider, PasswordInput, Text, TextInput, type TextInputProps } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ApiError } from '../../api/index.ts';
import { fieldOf } from './form-error.tsx';
import type { PasskeyUse } from './passkey.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { textProps } from '../../parts/bind.ts';

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
      {...textProps(value, onChange)}
      error={fieldOf(error, 'password')}
    />
  );
}

type RequiredInputProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string;
  onType: (value: string) => void;
};

/** A text field that must be filled in. */
export function RequiredInput({ value, onType, ...rest }: RequiredInputProps): ReactNode {
  return <TextInput required withAsterisk={false} {...textProps(value, onType)} {...rest} />;
}

/** The address that a member signs in with. */
export function EmailInput({ label = 'Email', ...rest }: RequiredInputProps): ReactNode {
  return <RequiredInput label={label} type="email" autoComplete="username" autoFocus {...rest} />;
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
      {...textProps(value, onChange)}
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
      <ActButton icon={KeyRound} change={passkey} onClick={passkey.start}>
        Use a passkey
      </ActButton>
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
