import { Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { SANDBOX_TEXT } from './sandbox-text.ts';
import { useCreateSandbox } from './use-pair.ts';

type Props = { opened: boolean; onClose: () => void; onReady: (id: number) => void };

export function CreateSandbox({ opened, onClose, onReady }: Props): ReactNode {
  const create = useCreateSandbox((id) => {
    onClose();
    onReady(id);
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Create sandbox">
      <Stack gap="md">
        <Text size="sm">{SANDBOX_TEXT}</Text>
        <DialogAction
          change={create}
          run={() => create.mutate({ body: { settings: { sandbox: 'on' } } })}
          onCancel={onClose}
        >
          Create sandbox
        </DialogAction>
      </Stack>
    </Modal>
  );
}
