import { Checkbox, FileInput, Modal, Progress, SegmentedControl, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { FileText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import, ImportKind } from '@beckon/contract/dashboard';
import { ApiError, useChange, useProject } from '../../api/index.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { useUpload } from './use-upload.ts';
import { KINDS } from './words.ts';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { StripeKeyInput } from './stripe-key-input.tsx';
import { tickProps } from '../../parts/bind.ts';

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
  const submit = async (): Promise<void> => {
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
    <Form onSubmit={() => void submit()}>
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
      <DialogAction
        change={{ isPending: isBusy, error: failure }}
        fields={['size_bytes', 'name']}
        onCancel={onClose}
        disabled={file === null}
      >
        Upload
      </DialogAction>
    </Form>
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
  const submit = (): void =>
    create.mutate({ body: { kind: 'stripe', key: key.trim(), unmatched_as_customers: asCustomers } });
  const fault = create.error?.fields['key'];
  return (
    <Form onSubmit={submit} autoComplete="off">
      <StripeKeyInput
        value={key}
        onType={setKey}
        data-autofocus
        description="Create it in Stripe under Developers → API keys, with read access to customers, subscriptions, invoices, prices and products. It is stored encrypted, and deleted when the import ends."
        error={fault}
      />
      <Checkbox
        label="Import customers without a matching user under their cus_… id"
        description="Otherwise they are counted and skipped. Customers are matched by metadata.user_id, then by an email address that exactly one user has."
        {...tickProps(asCustomers, setAsCustomers)}
      />
      <Muted>The import changes nothing in Stripe.</Muted>
      <DialogAction change={create} fields={['key']} onCancel={onClose} disabled={key.trim() === ''}>
        Continue
      </DialogAction>
    </Form>
  );
}
