import { Button } from '@mantine/core';
import { MailCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { refused, notify } from '../../parts/index.ts';

/** Sends a copy to the member, as it would be sent. The draft does not change. */
export function SendTest({ draft }: { draft: string }): ReactNode {
  const send = useChange('POST /projects/:project/drafts/:draft/send-test', {
    onDone: ({ data }) => notify(`Test copy sent to ${data.to}`),
    onRefused: (error) => refused(error, 'Test copy not sent'),
  });
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<MailCheck size={15} aria-hidden="true" />}
      loading={send.isPending}
      onClick={() => send.mutate({ params: { draft }, body: {} })}
    >
      Send me a test
    </Button>
  );
}
