import { Button, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = Omit<ButtonProps, 'loading'> & {
  /** The result of `useChange`. */
  change: { isPending: boolean };
  children: ReactNode;
};

/** The button that submits a form. */
export function SubmitButton({ change, ...rest }: Props): ReactNode {
  return <Button type="submit" loading={change.isPending} {...rest} />;
}
