import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useChange, useProject } from '../../api/index.ts';
import { ConfirmTyped, formatCount, notify } from '../../parts/index.ts';

type Props = { opened: boolean; user: string; onClose: () => void };

export function EraseDialog({ opened, user, onClose }: Props): ReactNode {
  const project = useProject();
  const navigate = useNavigate();
  const erase = useChange('POST /projects/:project/users/:user/erase', {
    refreshes: ['GET /projects/:project/users'],
    onDone: ({ data: { removed } }) => {
      const rows = Object.values(removed).reduce((sum, count) => sum + count, 0);
      notify(`User erased: ${formatCount(rows)} rows deleted`);
      onClose();
      void navigate({ to: '/p/$project/users', params: { project: String(project.id) } });
    },
  });
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title="Erase this user?"
      name={user}
      action="Erase permanently"
      run={() => erase.mutate({ params: { user }, body: { confirm: user } })}
      change={erase}
    >
      <Text size="sm">
        This deletes the user&apos;s traits, events, drafts, emails, runs, decisions, outcomes and replies,
        and drops their records in the ingest queue. An email that is being sent now cannot be recalled.
        Suppressions and unsubscribed topics stay as a hash, and also apply to a new user with the same ID or
        address.
      </Text>
    </ConfirmTyped>
  );
}
