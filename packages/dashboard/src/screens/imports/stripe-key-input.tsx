import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { textProps } from '../../parts/bind.ts';

type Props = Omit<PasswordInputProps, 'value' | 'onChange'> & {
  value: string;
  onType: (key: string) => void;
};

/** A restricted key of Stripe. */
export function StripeKeyInput({ value, onType, ...rest }: Props): ReactNode {
  return (
    <PasswordInput
      label="Restricted key"
      placeholder="rk_live_…"
      autoComplete="off"
      visibilityToggleButtonProps={{ 'aria-label': 'Show key' }}
      {...textProps(value, onType)}
      {...rest}
    />
  );
}
