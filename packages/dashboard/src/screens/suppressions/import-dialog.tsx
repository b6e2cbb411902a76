import { FileInput, Group, Modal, Select, Stack, Text } from '@mantine/core';
import type { SuppressionImport, SuppressionReasonName } from '@beckon/contract/dashboard';
import { CircleCheck, FileText, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { ErrorBox, notify } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';
import { importLines, REASON_CHOICES } from './words.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Bullets } from '../../parts/bullets.tsx';

type Props = { opened: boolean; onClose: () => void };

/** Imports a suppression list, after a dry run with the same counts. */
export function ImportDialog({ opened, onClose }: Props): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="Import suppressions" size="lg">
      <Steps onClose={onClose} />
    </Modal>
  );
}

const FILE_MAX_BYTES = 5 * 1024 * 1024;

function Steps({ onClose }: { onClose: () => void }): ReactNode {
  const { preview, take, read, fault, reason, setReason, list } = useImport(onClose);
  const body = { list: list ?? '', reason };
  const found = preview.data?.data;
  return (
    <Stack gap="md">
      <Text size="sm">
        CSV with the columns email or user, reason, until, <code>created_at</code>, or one address per line.
        Exports of most email services work unchanged.
      </Text>
      <FileInput
        label="File"
        placeholder="Select a file"
        accept=".csv,.txt,text/csv,text/plain"
        leftSection={<FileText size={15} aria-hidden="true" />}
        onChange={(file) => void read(file)}
        error={fault}
        clearable
        clearButtonProps={{ 'aria-label': 'Select another file' }}
      />
      <Select
        label="Default reason"
        allowDeselect={false}
        data={REASON_CHOICES.filter(({ value }) => value !== 'snoozed')}
        value={reason}
        onChange={(value) => setReason(value as SuppressionReasonName)}
      />
      {found && !take.data && <ImportResult result={found} title="Result of the dry run" />}
      {take.data && <ImportResult result={take.data.data} title="Done" />}
      {preview.error && <ErrorBox error={preview.error} />}
      {take.error && <ErrorBox error={take.error} />}
      <Group justify="flex-end" gap="xs">
        <ActButton onClick={onClose}>{take.data ? 'Close' : 'Cancel'}</ActButton>
        {!found && (
          <ActButton
            change={preview}
            variant="filled"
            disabled={list === null}
            onClick={() => preview.mutate({ body })}
          >
            Check file
          </ActButton>
        )}
        {found && !take.data && (
          <ActButton
            change={take}
            variant="filled"
            disabled={found.added === 0}
            onClick={() => take.mutate({ body })}
          >
            Suppress {found.added.toLocaleString('en-GB')}
          </ActButton>
        )}
      </Group>
    </Stack>
  );
}

/** Imports exactly the checked file. Another file or reason needs a new check. */
function useImport(onClose: () => void) {
  const [list, setList] = useState<string | null>(null);
  const [reason, setReason] = useState<SuppressionReasonName>('unsubscribed');
  const [fault, setFault] = useState<string | null>(null);
  const preview = useChange('POST /projects/:project/suppressions/preview-import');
  const take = useChange('POST /projects/:project/suppressions/import', {
    refreshes: ['GET /projects/:project/suppressions', 'GET /projects/:project/suppressions/state'],
    onDone: ({ data: { added, rejected } }) => {
      notify(added === 1 ? '1 suppression added' : `${added.toLocaleString('en-GB')} suppressions added`);
      if (rejected === 0) onClose();
    },
  });
  const again = (): void => {
    preview.reset();
    take.reset();
  };
  const read = async (file: File | null): Promise<void> => {
    again();
    const isTooLarge = (file?.size ?? 0) > FILE_MAX_BYTES;
    setFault(isTooLarge ? TOO_LARGE : null);
    setList(file === null || isTooLarge ? null : await file.text());
  };
  const choose = (next: SuppressionReasonName): void => {
    again();
    setReason(next);
  };
  return { preview, take, read, fault, reason, setReason: choose, list };
}

const TOO_LARGE = 'Files are limited to 5 MB here. Import larger files with the command line.';

const LIST_MAX = 10;

function ImportResult({ result: counts, title }: { result: SuppressionImport; title: string }): ReactNode {
  const { problems, rejected } = counts;
  return (
    <Notice icon={rejected > 0 ? TriangleAlert : CircleCheck} title={title}>
      <Bullets items={importLines(counts)} />
      {problems.length > 0 && (
        <Stack gap={2} mt="xs">
          {problems.slice(0, LIST_MAX).map(({ line, message }) => (
            <Text key={`${line} ${message}`} size="xs" style={{ overflowWrap: 'anywhere' }}>
              Line {line}: {message}
            </Text>
          ))}
          {rejected > LIST_MAX && (
            <Text size="xs">and {(rejected - LIST_MAX).toLocaleString('en-GB')} more</Text>
          )}
        </Stack>
      )}
    </Notice>
  );
}
