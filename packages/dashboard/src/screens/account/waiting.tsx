import { Group, Loader, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A line that says what the step waits for. */
export function Waiting({ isActive, children }: { isActive: boolean; children: ReactNode }): ReactNode {
  return (
    <Group gap="xs" wrap="nowrap" role="status">
      {isActive && <Loader size={14} aria-hidden="true" />}
      <Text size="sm" c="dimmed">
        {children}
      </Text>
    </Group>
  );
}
