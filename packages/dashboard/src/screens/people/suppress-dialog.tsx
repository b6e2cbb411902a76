import { Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { formatCount, notify } from '../../parts/index.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Muted } from '../../parts/muted.tsx';

type Props = { opened: boolean; users: string[]; onClose: () => void; onDone: () => void };

/** Explains before suppressing that drafts and runs end and do not restart. */
export function SuppressDialog({ opened, users, onClose, onDone }: Props): ReactNode {
  const suppress = useChange('POST /projects/:project/users/suppress', {
    refreshes: ['GET /projects/:project/users/:user'],
    onDone: ({ data }) => {
      notify(
        `${formatCount(data.added)} suppressed, ${formatCount(data.already_suppressed)} already suppressed; ${formatCount(data.drafts)} drafts and ${formatCount(data.runs)} runs ended`,
      );
      onDone();
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title={`Suppress ${formatCount(users.length)} users?`}>
      <Stack>
        <Text size="sm">
          These users get no more emails, even if their address changes. Their drafts and runs end, and do not
          restart if you remove the suppression.
        </Text>
        <Muted>
          {users.slice(0, 5).join(', ')}
          {users.length > 5 && ` and ${formatCount(users.length - 5)} more`}
        </Muted>
        <DialogAction
          change={suppress}
          run={() => suppress.mutate({ body: { users } })}
          onCancel={onClose}
          isDestructive
        >
          Suppress users
        </DialogAction>
      </Stack>
    </Modal>
  );
}
