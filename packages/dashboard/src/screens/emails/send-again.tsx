import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { EmailWhole } from '@beckon/contract/dashboard';
import { RotateCcw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useChange, useMay, useProject } from '../../api/index.ts';
import { ConfirmTyped, refused, notify } from '../../parts/index.ts';

/** Creates a new draft with the same text. If the first email may have arrived, the member confirms by typing. */
export function SendAgain({ email }: { email: EmailWhole }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const mayReview = useMay('reviewer');
  const project = useProject();
  const navigate = useNavigate();
  const again = useChange('POST /projects/:project/drafts/:draft/send-again', {
    refreshes: ['GET /projects/:project/emails', 'GET /projects/:project/emails/:email'],
    onDone: ({ data }) => {
      notify('Resending. All send checks apply.');
      void navigate({
        to: '/p/$project/drafts/$draft',
        params: { project: String(project.id), draft: data.draft.id },
      });
    },
    onRefused: (error) => {
      if (email.send_again === 'available') refused(error);
    },
  });
  if (email.send_again === 'unavailable' || !mayReview) return null;
  const { draft_id: draft, external_user_id: user } = email;
  const run = (): void => {
    const confirm = email.send_again === 'requires_confirmation' ? { confirm: user } : {};
    again.mutate({ params: { draft }, body: confirm });
  };
  const needsWord = email.send_again === 'requires_confirmation';
  return (
    <>
      <Button
        leftSection={<RotateCcw size={15} aria-hidden="true" />}
        loading={again.isPending && !needsWord}
        onClick={() => (needsWord ? setOpen(true) : run())}
      >
        Resend
      </Button>
      <ConfirmTyped
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Resend this email?"
        name={user}
        action="Resend"
        run={run}
        change={again}
      >
        <Text size="sm">
          It is unknown whether the first email arrived. If it did, this user gets it twice.
        </Text>
      </ConfirmTyped>
    </>
  );
}
