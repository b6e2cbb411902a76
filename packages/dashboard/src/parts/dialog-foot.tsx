import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = {
  onCancel: () => void;
  cancel?: string;
  /** For an action that must not start by accident. */
  focusesCancel?: boolean;
  children: ReactNode;
};

/** The buttons of a dialog: cancel, and the action inside. */
export function DialogFoot({ onCancel, cancel = 'Cancel', focusesCancel, children }: Props): ReactNode {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel} data-autofocus={focusesCancel}>
        {cancel}
      </Button>
      {children}
    </Group>
  );
}
