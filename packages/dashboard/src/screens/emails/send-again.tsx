import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { EmailWhole } from '@beckon/contract/dashboard';
import { RotateCcw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useChange, useMay, useProject } from '../../api/index.ts';
import { ConfirmTyped, refused, told } from '../../parts/index.ts';

/** A new draft of the same text, through all gates; where the first may have arrived somebody types that it may come twice. */
export function SendAgain({ letter }: { letter: EmailWhole }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const mayReview = useMay('reviewer');
  const project = useProject();
  const navigate = useNavigate();
  const again = useChange('POST /projects/:project/drafts/:draft/send-again', {
    refreshes: ['GET /projects/:project/emails', 'GET /projects/:project/emails/:email'],
    onDone: ({ data }) => {
      told('It goes through all gates again');
      void navigate({
        to: '/p/$project/drafts/$draft',
        params: { project: String(project.id), draft: data.draft.id },
      });
    },
    onRefused: (error) => {
      if (letter.send_again === 'plain') refused(error);
    },
  });
  if (letter.send_again === 'no' || !mayReview) return null;
  const { draft_id: draft, external_user_id: user } = letter;
  const run = (): void => {
    const confirm = letter.send_again === 'confirmed' ? { confirm: user } : {};
    again.mutate({ params: { draft }, body: confirm });
  };
  const needsWord = letter.send_again === 'confirmed';
  return (
    <>
      <Button
        leftSection={<RotateCcw size={15} aria-hidden="true" />}
        loading={again.isPending && !needsWord}
        onClick={() => (needsWord ? setOpen(true) : run())}
      >
        Send again
      </Button>
      <ConfirmTyped
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="It may arrive twice"
        name={user}
        action="Send again"
        run={run}
        isRunning={again.isPending}
        error={again.error}
      >
        <Text size="sm">
          Nobody knows whether the first one arrived: the connection ended before the server said so. If it
          did, this person gets the same letter twice.
        </Text>
      </ConfirmTyped>
    </>
  );
}
