import { Button, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { DialogFoot, ErrorBox, formatCount, told } from '../../parts/index.ts';

type Props = { opened: boolean; users: string[]; onClose: () => void; onDone: () => void };

/** It ends what is under way to them, and that does not begin again: so it is said before. */
export function SuppressDialog({ opened, users, onClose, onDone }: Props): ReactNode {
  const suppress = useChange('POST /projects/:project/users/suppress', {
    refreshes: ['GET /projects/:project/users/:user'],
    onDone: ({ data }) => {
      told(
        `${formatCount(data.added)} suppressed, ${formatCount(data.known)} were already; ${formatCount(data.drafts)} letters and ${formatCount(data.runs)} runs ended`,
      );
      onDone();
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title={`Suppress ${formatCount(users.length)} users?`}>
      <Stack>
        <Text size="sm">
          Nothing is sent to them any more, whatever their address becomes. Letters and runs under way end,
          and do not begin again when you lift the suppression.
        </Text>
        <Text size="sm" c="dimmed">
          {users.slice(0, 5).join(', ')}
          {users.length > 5 && ` and ${formatCount(users.length - 5)} more`}
        </Text>
        {suppress.error && <ErrorBox error={suppress.error} />}
        <DialogFoot onCancel={onClose}>
          <Button
            color="red.9"
            loading={suppress.isPending}
            onClick={() => suppress.mutate({ body: { users } })}
          >
            Suppress them
          </Button>
        </DialogFoot>
      </Stack>
    </Modal>
  );
}
