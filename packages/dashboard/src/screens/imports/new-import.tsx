import {
  Button,
  Checkbox,
  FileInput,
  Modal,
  PasswordInput,
  Progress,
  SegmentedControl,
  Stack,
  Text,
} from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { FileText } from 'lucide-react';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import type { Import, ImportKind } from '@beckon/contract/dashboard';
import { ApiError, useChange, useProject } from '../../api/index.ts';
import { DialogFoot, ErrorBox } from '../../parts/index.ts';
import { useUpload } from './use-upload.ts';
import { KINDS } from './words.ts';

type Props = { opened: boolean; onClose: () => void };

export function NewImport({ opened, onClose }: Props): ReactNode {
  const [kind, setKind] = useState<ImportKind>('users');
  const [isBusy, setIsBusy] = useState(false);
  return (
    <Modal opened={opened} onClose={onClose} title="New import" size="lg" closeOnClickOutside={!isBusy}>
      <Stack gap="md">
        <SegmentedControl
          aria-label="Source"
          data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
          value={kind}
          onChange={(value) => setKind(value as ImportKind)}
          disabled={isBusy}
        />
        {kind === 'stripe' ? (
          <FromStripe onClose={onClose} />
        ) : (
          <FromFile key={kind} kind={kind} onClose={onClose} onBusy={setIsBusy} />
        )}
      </Stack>
    </Modal>
  );
}

function useOpen(): (dataImport: Import) => void {
  const navigate = useNavigate();
  const project = useProject();
  return ({ id }) =>
    void navigate({
      to: '/p/$project/imports/$import',
      params: { project: String(project.id), import: id },
    });
}

const WORDS = {
  users:
    'CSV with a header, or JSON lines. One column has your user id. Email address, name and plan are detected by their headers; other columns become traits.',
  events:
    'CSV with a header, or JSON lines. Columns for the user, the event name, and its time or id; other columns become properties.',
};

type FileProps = { kind: 'users' | 'events'; onClose: () => void; onBusy: (is: boolean) => void };

function FromFile({ kind, onClose, onBusy }: FileProps): ReactNode {
  const [file, setFile] = useState<File | null>(null);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const { upload, uploading } = useUpload();
  const open = useOpen();
  const create = useChange('POST /projects/:project/imports');
  const submit = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    if (!file) return;
    onBusy(true);
    setFailure(null);
    try {
      const { name, size, lastModified } = file;
      const body = { kind, name, size_bytes: size, file_modified_at: lastModified };
      const { data } = await create.mutateAsync({ body });
      // An interrupted upload continues on the import's page.
      await upload(data, file).catch(() => undefined);
      open(data);
      onClose();
    } catch (error) {
      if (error instanceof ApiError) setFailure(error);
    } finally {
      onBusy(false);
    }
  };
  const fault = failure?.fields['size_bytes'] ?? failure?.fields['name'];
  const isBusy = uploading !== null || create.isPending;
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <FileInput
          data-autofocus
          label="File"
          description={WORDS[kind]}
          placeholder="Select a file"
          accept=".csv,.tsv,.txt,.jsonl,.ndjson,.json"
          leftSection={<FileText size={15} aria-hidden="true" />}
          value={file}
          onChange={setFile}
          error={fault}
          disabled={isBusy}
          clearable
          clearButtonProps={{ 'aria-label': 'Select another file' }}
        />
        {uploading && <Progress value={(uploading.sent * 100) / uploading.of} aria-label="Upload" />}
        {failure && fault === undefined && <ErrorBox error={failure} />}
        <DialogFoot onCancel={onClose}>
          <Button type="submit" loading={isBusy} disabled={file === null}>
            Upload
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  );
}

function FromStripe({ onClose }: { onClose: () => void }): ReactNode {
  const [key, setKey] = useState('');
  const [asCustomers, setAsCustomers] = useState(false);
  const open = useOpen();
  const create = useChange('POST /projects/:project/imports', {
    refreshes: ['GET /projects/:project/imports'],
    onDone: ({ data }) => {
      open(data);
      onClose();
    },
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    create.mutate({ body: { kind: 'stripe', key: key.trim(), unmatched_as_customers: asCustomers } });
  };
  const fault = create.error?.fields['key'];
  return (
    <form onSubmit={submit} autoComplete="off">
      <Stack gap="md">
        <PasswordInput
          data-autofocus
          label="Restricted key"
          description="Create it in Stripe under Developers → API keys, with read access to customers, subscriptions, invoices, prices and products. It is stored encrypted, and deleted when the import ends."
          placeholder="rk_live_…"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={fault}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': 'Show key' }}
        />
        <Checkbox
          label="Import customers without a matching user under their cus_… id"
          description="Otherwise they are counted and skipped. Customers are matched by metadata.user_id, then by an email address that exactly one user has."
          checked={asCustomers}
          onChange={(event) => setAsCustomers(event.currentTarget.checked)}
        />
        {create.error && fault === undefined && <ErrorBox error={create.error} />}
        <Text size="sm" c="dimmed">
          The import changes nothing in Stripe.
        </Text>
        <DialogFoot onCancel={onClose}>
          <Button type="submit" loading={create.isPending} disabled={key.trim() === ''}>
            Continue
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  );
}
