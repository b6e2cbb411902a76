import { Button, Group, Modal, Text } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = { opened: boolean; onStay: () => void; onLeave: () => void };

export function LeaveDialog({ opened, onStay, onLeave }: Props): ReactNode {
  return (
    <Modal opened={opened} onClose={onStay} title="Leave without saving?">
      <Text size="sm">Your changes on this page are not saved.</Text>
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" data-autofocus onClick={onStay}>
          Keep editing
        </Button>
        <Button color="red.9" onClick={onLeave}>
          Leave without saving
        </Button>
      </Group>
    </Modal>
  );
}
