import { Modal, Stack, Text } from '@mantine/core';
import { Ban, Pause, Play } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { type ApiError, useChange } from '../../api/index.ts';
import { DialogFoot, refused } from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';

const READS = ['GET /projects/:project/imports/:import', 'GET /projects/:project/imports'] as const;
const CHANGING = { refreshes: [...READS], onRefused: (error: ApiError) => refused(error) };

/** The actions of an import. */
export function ImportActs({ dataImport }: { dataImport: Import }): ReactNode {
  const [isCanceling, setIsCanceling] = useState(false);
  const pause = useChange('POST /projects/:project/imports/:import/pause', CHANGING);
  const resume = useChange('POST /projects/:project/imports/:import/resume', CHANGING);
  const params = { import: dataImport.id };
  const { state } = dataImport;
  const hasEnded = state === 'done' || state === 'failed' || state === 'canceled';
  return (
    <>
      {(state === 'running' || state === 'checking') && (
        <ActButton icon={Pause} change={pause} onClick={() => pause.mutate({ params })}>
          {state === 'running' ? 'Pause' : 'Stop check'}
        </ActButton>
      )}
      {state === 'paused' && (
        <ActButton icon={Play} change={resume} variant="filled" onClick={() => resume.mutate({ params })}>
          Resume
        </ActButton>
      )}
      {!hasEnded && (
        <ActButton icon={Ban} onClick={() => setIsCanceling(true)}>
          Cancel
        </ActButton>
      )}
      <CancelDialog dataImport={dataImport} opened={isCanceling} onClose={() => setIsCanceling(false)} />
    </>
  );
}

type DialogProps = { dataImport: Import; opened: boolean; onClose: () => void };

function CancelDialog({ dataImport, opened, onClose }: DialogProps): ReactNode {
  const cancel = useChange('POST /projects/:project/imports/:import/cancel', {
    ...CHANGING,
    onDone: onClose,
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Cancel import">
      <Stack gap="md">
        <Text size="sm">
          Imported data is kept, no more is imported, and the file is deleted. You can run the same import
          again: existing data is not duplicated.
        </Text>
        <DialogFoot onCancel={onClose}>
          <ActButton
            change={cancel}
            variant="filled"
            color="red"
            onClick={() => cancel.mutate({ params: { import: dataImport.id } })}
          >
            Cancel import
          </ActButton>
        </DialogFoot>
      </Stack>
    </Modal>
  );
}
