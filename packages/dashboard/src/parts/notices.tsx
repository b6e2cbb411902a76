import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Check, CircleAlert } from 'lucide-react';
import type { Failed } from './error-box.tsx';

const REFUSED_MS = 12_000;

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
