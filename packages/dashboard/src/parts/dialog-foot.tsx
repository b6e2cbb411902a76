import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = { onCancel: () => void; cancel?: string; children: ReactNode };

/** The buttons of a dialog: cancel, and the action inside. */
export function DialogFoot({ onCancel, cancel = 'Cancel', children }: Props): ReactNode {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        {cancel}
      </Button>
      {children}
    </Group>
  );
}
