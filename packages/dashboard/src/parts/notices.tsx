import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Check, CircleAlert, Undo2 } from 'lucide-react';
import type { Failed } from './error-box.tsx';

const UNDO_MS = 10_000;
const REFUSED_MS = 12_000;

/** Done, and to be had back for ten seconds. Gives what hides it, for a key that undoes. */
export function undoable({ message, undo }: { message: string; undo: () => void }): () => void {
  const id = notifications.show({
    autoClose: UNDO_MS,
    icon: <Check size={16} aria-hidden="true" />,
    color: 'beacon',
    withBorder: true,
    role: 'status',
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Undo2 size={14} aria-hidden="true" />}
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
  return () => notifications.hide(id);
}

/** The server said no, and why; nothing is lost. */
export function refused({ message, requestId }: Failed, title = 'Not done'): void {
  notifications.show({
    autoClose: REFUSED_MS,
    color: 'red.9',
    icon: <CircleAlert size={16} aria-hidden="true" />,
    withBorder: true,
    role: 'alert',
    title,
    message: (
      <>
        {message}
        {requestId && (
          <Text size="xs" c="dimmed" mt={4}>
            Request {requestId}
          </Text>
        )}
      </>
    ),
  });
}

/** Something is so now: "Saved". */
export function told(message: string): void {
  notifications.show({
    autoClose: 4_000,
    color: 'beacon',
    icon: <Check size={16} aria-hidden="true" />,
    withBorder: true,
    role: 'status',
    message,
  });
}
