import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Check, CircleAlert, CircleHelp, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Failed } from './error-box.tsx';

const UNDO_MS = 10_000;
const REFUSED_MS = 12_000;

type Undoable = { message: string; undo: () => void };

/** Done, and to be had back for ten seconds. Gives what hides it, for a key that undoes. */
export function undoable(what: Undoable): () => void {
  const icon = <Check size={16} aria-hidden="true" />;
  return withUndo(what, { icon, color: 'beacon', role: 'status' });
}

/** No answer came: it may have been done, and can be had back as if it had been. */
export function inDoubt({ message, undo }: Undoable): () => void {
  const icon = <CircleHelp size={16} aria-hidden="true" />;
  const title = 'Nobody knows whether it was done';
  return withUndo({ message, undo }, { icon, color: 'orange.9', role: 'alert', title });
}

type Look = { icon: ReactNode; color: string; role: 'status' | 'alert'; title?: string };

function withUndo({ message, undo }: Undoable, look: Look): () => void {
  const id = notifications.show({
    ...look,
    autoClose: UNDO_MS,
    withBorder: true,
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
