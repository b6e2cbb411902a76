import { Button, FileInput, Group, List, Modal, Select, Stack, Text } from '@mantine/core';
import type { SuppressionImport, SuppressionReasonName } from '@beckon/contract/dashboard';
import { CircleCheck, FileText, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { ErrorBox, told } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';
import { importLines, REASON_CHOICES } from './words.ts';

type Props = { opened: boolean; onClose: () => void };

/** A list from elsewhere: tried first, with the same counts, and taken only then. */
export function ImportDialog({ opened, onClose }: Props): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="Import a list" size="lg">
      <Steps onClose={onClose} />
    </Modal>
  );
}

const FILE_MAX_BYTES = 5 * 1024 * 1024;

function Steps({ onClose }: { onClose: () => void }): ReactNode {
  const { preview, take, read, trouble, reason, setReason, list } = useImport(onClose);
  const body = { list: list ?? '', reason };
  const found = preview.data?.data;
  return (
    <Stack gap="md">
      <Text size="sm">
        CSV with the columns email or user, reason, until, created_at; or an address a line. Exports of most
        senders are understood as they are.
      </Text>
      <FileInput
        label="File"
        placeholder="Choose a file"
        accept=".csv,.txt,text/csv,text/plain"
        leftSection={<FileText size={15} aria-hidden="true" />}
        onChange={(file) => void read(file)}
        error={trouble}
        clearable
        clearButtonProps={{ 'aria-label': 'Take another file' }}
      />
      <Select
        label="Why, for rows that say none"
        allowDeselect={false}
        data={REASON_CHOICES.filter(({ value }) => value !== 'snoozed')}
        value={reason}
        onChange={(value) => setReason(value as SuppressionReasonName)}
      />
      {found && !take.data && <Told told={found} title="This is what it comes to; nothing is written yet" />}
      {take.data && <Told told={take.data.data} title="Done" />}
      {preview.error && <ErrorBox error={preview.error} />}
      {take.error && <ErrorBox error={take.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {take.data ? 'Close' : 'Cancel'}
        </Button>
        {!found && (
          <Button
            disabled={list === null}
            loading={preview.isPending}
            onClick={() => preview.mutate({ body })}
          >
            Try it
          </Button>
        )}
        {found && !take.data && (
          <Button disabled={found.added === 0} loading={take.isPending} onClick={() => take.mutate({ body })}>
            Suppress {found.added.toLocaleString('en-GB')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** What is tried is what is taken: another file, or another reason, begins anew. */
function useImport(onClose: () => void) {
  const [list, setList] = useState<string | null>(null);
  const [reason, setReason] = useState<SuppressionReasonName>('unsubscribed');
  const [trouble, setTrouble] = useState<string | null>(null);
  const preview = useChange('POST /projects/:project/suppressions/preview-import');
  const take = useChange('POST /projects/:project/suppressions/import', {
    refreshes: ['GET /projects/:project/suppressions', 'GET /projects/:project/suppressions/state'],
    onDone: ({ data: { added, refused } }) => {
      told(added === 1 ? 'One is suppressed more' : `${added.toLocaleString('en-GB')} are suppressed more`);
      if (refused === 0) onClose();
    },
  });
  const again = (): void => {
    preview.reset();
    take.reset();
  };
  const read = async (file: File | null): Promise<void> => {
    again();
    const isTooLarge = (file?.size ?? 0) > FILE_MAX_BYTES;
    setTrouble(isTooLarge ? TOO_LARGE : null);
    setList(file === null || isTooLarge ? null : await file.text());
  };
  const choose = (next: SuppressionReasonName): void => {
    again();
    setReason(next);
  };
  return { preview, take, read, trouble, reason, setReason: choose, list };
}

const TOO_LARGE =
  'A file has at most 5 MB here. Larger ones go through the command: beckon suppression import.';

const TROUBLES_SHOWN = 10;

function Told({ told: counts, title }: { told: SuppressionImport; title: string }): ReactNode {
  const { problems: troubles, refused } = counts;
  return (
    <Notice icon={refused > 0 ? TriangleAlert : CircleCheck} title={title}>
      <List size="sm">
        {importLines(counts).map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
      {troubles.length > 0 && (
        <Stack gap={2} mt="xs">
          {troubles.slice(0, TROUBLES_SHOWN).map(({ line, message }) => (
            <Text key={`${line} ${message}`} size="xs" style={{ overflowWrap: 'anywhere' }}>
              Line {line}: {message}
            </Text>
          ))}
          {refused > TROUBLES_SHOWN && (
            <Text size="xs">and {(refused - TROUBLES_SHOWN).toLocaleString('en-GB')} more</Text>
          )}
        </Stack>
      )}
    </Notice>
  );
}
