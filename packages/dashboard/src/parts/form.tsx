import { Stack, type StackProps } from '@mantine/core';
import type { ReactNode } from 'react';

export type FormProps = {
  onSubmit: () => void;
  /** Whether the browser may fill in the fields. */
  autoComplete?: 'on' | 'off';
  'aria-labelledby'?: string;
  gap?: StackProps['gap'];
  maw?: StackProps['maw'];
  children: ReactNode;
};

/** A form, as a stack of fields. */
export function Form({ onSubmit, gap = 'md', maw, children, ...rest }: FormProps): ReactNode {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Stack gap={gap} {...(maw === undefined ? {} : { maw })}>
        {children}
      </Stack>
    </form>
  );
}
