import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Check, CircleAlert, CircleHelp, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Failed } from './error-box.tsx';

const UNDO_MS = 10_000;
const REFUSED_MS = 12_000;

type Undoable = { message: string; undo: () => void };

/** Shows a completed action with an undo button for ten seconds. Returns a function that hides it. */
export function undoable(what: Undoable): () => void {
  const icon = <Check size={16} aria-hidden="true" />;
  return withUndo(what, { icon, color: 'beacon', role: 'status' });
}

/** Shows an action without a response: it may have been done, so it can be undone. */
export function inDoubt({ message, undo }: Undoable): () => void {
  const icon = <CircleHelp size={16} aria-hidden="true" />;
  const title = 'No response: this may or may not have been done';
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

/** Shows an error response. The page keeps all input. */
export function refused({ message, requestId }: Failed, title = 'Request failed'): void {
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

/** A plain notification: "Saved". */
export function notify(message: string): void {
  notifications.show({
    autoClose: 4_000,
    color: 'beacon',
    icon: <Check size={16} aria-hidden="true" />,
    withBorder: true,
    role: 'status',
    message,
  });
}
