import { Button, Modal, Stack, Text } from '@mantine/core';
import { Ban, Pause, Play } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { type ApiError, useChange } from '../../api/index.ts';
import { DialogFoot, refused } from '../../parts/index.ts';

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
        <Button
          variant="default"
          leftSection={<Pause size={15} aria-hidden="true" />}
          loading={pause.isPending}
          onClick={() => pause.mutate({ params })}
        >
          {state === 'running' ? 'Pause' : 'Stop check'}
        </Button>
      )}
      {state === 'paused' && (
        <Button
          leftSection={<Play size={15} aria-hidden="true" />}
          loading={resume.isPending}
          onClick={() => resume.mutate({ params })}
        >
          Resume
        </Button>
      )}
      {!hasEnded && (
        <Button
          variant="default"
          leftSection={<Ban size={15} aria-hidden="true" />}
          onClick={() => setIsCanceling(true)}
        >
          Cancel
        </Button>
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
          <Button
            color="red"
            loading={cancel.isPending}
            onClick={() => cancel.mutate({ params: { import: dataImport.id } })}
          >
            Cancel import
          </Button>
        </DialogFoot>
      </Stack>
    </Modal>
  );
}
