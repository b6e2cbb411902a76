import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AudienceDetails } from '@beckon/contract/dashboard';
import { useChange, useProject } from '../../api/index.ts';
import { ConfirmTyped, notify } from '../../parts/index.ts';

type Props = { opened: boolean; audience: AudienceDetails; onClose: () => void };

export function DeleteDialog({ opened, audience: { id, name, used_by: uses }, onClose }: Props): ReactNode {
  const project = String(useProject().id);
  const navigate = useNavigate();
  const remove = useChange('DELETE /projects/:project/audiences/:audience', {
    refreshes: ['GET /projects/:project/audiences'],
    onDone: () => {
      notify(`Audience ${name} deleted`);
      void navigate({ to: '/p/$project/audiences', params: { project } });
    },
  });
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title="Delete this audience?"
      name={name}
      action="Delete"
      run={() => remove.mutate({ params: { audience: id }, body: { confirm: name } })}
      change={remove}
    >
      <Text size="sm">
        This deletes its member list and history. The users are kept.
        {uses.length > 0 &&
          ` It is used by ${uses.map((use) => use.name).join(', ')}. Remove it there first.`}
      </Text>
    </ConfirmTyped>
  );
}
