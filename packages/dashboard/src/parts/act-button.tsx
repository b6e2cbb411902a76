import { Button, type ButtonProps } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

export type ActButtonProps = Omit<ButtonProps, 'leftSection' | 'loading'> & {
  icon?: LucideIcon;
  /** The change that the button starts: the result of `useChange`. */
  change?: { isPending: boolean };
  onClick: () => void;
  children: ReactNode;
};

/** A button for an action. The main action of a page or dialog has the variant `filled`. */
export function ActButton({ icon: Icon, change, variant = 'default', ...rest }: ActButtonProps): ReactNode {
  return (
    <Button
      variant={variant}
      loading={change?.isPending === true}
      leftSection={Icon && <Icon size={15} aria-hidden="true" />}
      {...rest}
    />
  );
}
