import { Button } from '@mantine/core';
import { MailCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { refused, told } from '../../parts/index.ts';

/** A copy to whoever looks at it, as it would leave; nothing about the draft changes. */
export function SendTest({ draft }: { draft: string }): ReactNode {
  const send = useChange('POST /projects/:project/drafts/:draft/send-test', {
    onDone: ({ data }) => told(`A copy went to ${data.to}`),
    onRefused: (error) => refused(error, 'No copy was sent'),
  });
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<MailCheck size={15} aria-hidden="true" />}
      loading={send.isPending}
      onClick={() => send.mutate({ params: { draft }, body: {} })}
    >
      Send me this
    </Button>
  );
}
