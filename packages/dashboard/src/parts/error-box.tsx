import { Alert, Button, Group, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Copy } from './copy.tsx';

export type Failed = { message: string; requestId?: string | null; retryAfterS?: number | null };
export type ErrorBoxProps = { error: Failed; title?: string; retry?: (() => void) | undefined };

/** What went wrong: the cause, the request's id for whoever reads the log, and another try. */
export function ErrorBox({ error, title = 'This did not work', retry }: ErrorBoxProps): ReactNode {
  const { message, requestId } = error;
  return (
    <Alert role="alert" color="red" variant="outline" icon={<CircleAlert aria-hidden="true" />} title={title}>
      <Text size="sm">{message}</Text>
      {(requestId || retry) && (
        <Group gap="sm" mt="xs">
          {requestId && (
            <Group gap={4}>
              <Text size="xs" c="dimmed">
                Request <code>{requestId}</code>
              </Text>
              <Copy text={requestId} what="request id" />
            </Group>
          )}
          {retry && (
            <Button size="compact-sm" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
        </Group>
      )}
    </Alert>
  );
}
