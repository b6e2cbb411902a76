import { PasswordInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { textProps } from '../../parts/bind.ts';

type NewPasswordInputProps = {
  label?: string;
  value: string;
  onChange: (value: string) => void;
  error: string | null;
};

/** A new password is typed once and can be shown. */
export function NewPasswordInput({
  label = 'Password',
  value,
  onChange,
  error,
}: NewPasswordInputProps): ReactNode {
  return (
    <PasswordInput
      label={label}
      description="At least 12 characters. Passwords that are easy to guess are rejected."
      autoComplete="new-password"
      required
      withAsterisk={false}
      minLength={12}
      maxLength={256}
      {...textProps(value, onChange)}
      error={error}
    />
  );
}
