import { Alert, Group, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Copy } from './copy.tsx';
import { Muted } from './muted.tsx';
import { ActButton } from './act-button.tsx';

export type Failed = {
  message: string;
  /** The field of the request that the error is about. */
  field?: string | undefined;
  /** The HTTP status. */
  status?: number;
  requestId?: string | null;
  retryAfterS?: number | null;
};
export type ErrorBoxProps = { error: Failed; title?: string; retry?: (() => void) | undefined };

/** An error: the cause, the request id to find it in the log, and a retry button. */
export function ErrorBox({ error, title = 'Something went wrong', retry }: ErrorBoxProps): ReactNode {
  const { message, requestId } = error;
  return (
    <Alert role="alert" color="red" variant="outline" icon={<CircleAlert aria-hidden="true" />} title={title}>
      <Text size="sm">{message}</Text>
      {(requestId || retry) && (
        <Group gap="sm" mt="xs">
          {requestId && (
            <Group gap={4}>
              <Muted size="xs">
                Request <code>{requestId}</code>
              </Muted>
              <Copy text={requestId} what="request id" />
            </Group>
          )}
          {retry && (
            <ActButton size="compact-sm" onClick={retry}>
              Retry
            </ActButton>
          )}
        </Group>
      )}
    </Alert>
  );
}
