import type { SendingDomain } from '@beckon/contract/dashboard';
import { Button, Menu, Modal, Stack, Text, TextInput } from '@mantine/core';
import { RefreshCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type ReadKey, useChange, useMay } from '../../api/index.ts';
import { ConfirmTyped, refused, notify } from '../../parts/index.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { MoreMenu } from '../../parts/more-menu.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { textProps } from '../../parts/bind.ts';

const FOLLOWS: ReadKey[] = [
  'GET /projects/:project/domains',
  'GET /projects/:project/domains/:domain',
  'GET /projects/:project/sending',
];

type Props = { domain: SendingDomain; onRemoved: () => void };

export function DomainActs({ domain, onRemoved }: Props): ReactNode {
  const may = useMay('admin');
  const [dialog, setDialog] = useState<'pause' | 'remove' | null>(null);
  const { check, rotate, resume } = useActs();
  const params = { domain: domain.name };
  if (!may) return null;
  return (
    <>
      <ActButton icon={RefreshCw} change={check} onClick={() => check.mutate({ params })}>
        Check now
      </ActButton>
      {domain.paused_at !== null && (
        <Button loading={resume.isPending} onClick={() => resume.mutate({ params })}>
          Resume sending
        </Button>
      )}
      <MoreMenu>
        <Menu.Item onClick={() => rotate.mutate({ params })}>Replace DKIM key</Menu.Item>
        <Menu.Item disabled={domain.paused_at !== null} onClick={() => setDialog('pause')}>
          Pause…
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item c="var(--mantine-color-error)" onClick={() => setDialog('remove')}>
          Remove…
        </Menu.Item>
      </MoreMenu>
      <PauseDialog domain={domain} opened={dialog === 'pause'} onClose={() => setDialog(null)} />
      <RemoveDialog
        domain={domain}
        opened={dialog === 'remove'}
        onClose={() => setDialog(null)}
        onRemoved={onRemoved}
      />
    </>
  );
}

function useActs() {
  const check = useChange('POST /projects/:project/domains/:domain/check', {
    refreshes: FOLLOWS,
    onDone: ({ data: { records } }) =>
      notify(
        `${records.filter(({ status }) => status === 'ok').length} of ${records.length} records are correct`,
      ),
    onRefused: (error) => refused(error),
  });
  const rotate = useChange('POST /projects/:project/domains/:domain/rotate', {
    refreshes: FOLLOWS,
    onDone: () =>
      notify('Publish the new DKIM record. It is used once it is found; keep the old record until then.'),
    onRefused: (error) => refused(error),
  });
  const resume = useChange('POST /projects/:project/domains/:domain/resume', {
    refreshes: FOLLOWS,
    onDone: ({ data: { retried: count } }) =>
      notify(`Sending resumed. ${count} held emails are checked again.`),
    onRefused: (error) => refused(error),
  });
  return { check, rotate, resume };
}

type DialogProps = { domain: SendingDomain; opened: boolean; onClose: () => void };

function PauseDialog({ domain, opened, onClose }: DialogProps): ReactNode {
  const [reason, setReason] = useState('');
  const pause = useChange('POST /projects/:project/domains/:domain/pause', {
    refreshes: FOLLOWS,
    onDone: () => {
      notify(`${domain.name} paused`);
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title={`Pause ${domain.name}`}>
      <Stack gap="md">
        <Text size="sm">Emails from this domain are held until a member resumes sending.</Text>
        <TextInput
          data-autofocus
          label="Reason (shown to other members)"
          {...textProps(reason, setReason)}
          maxLength={200}
        />
        <DialogAction
          change={pause}
          run={() => pause.mutate({ params: { domain: domain.name }, body: { reason } })}
          onCancel={onClose}
        >
          Pause
        </DialogAction>
      </Stack>
    </Modal>
  );
}

function RemoveDialog({
  domain,
  opened,
  onClose,
  onRemoved,
}: DialogProps & { onRemoved: () => void }): ReactNode {
  const { name } = domain;
  const remove = useChange('DELETE /projects/:project/domains/:domain', {
    refreshes: ['GET /projects/:project/domains', 'GET /projects/:project/sending'],
    onDone: () => {
      notify(`${name} removed`);
      onRemoved();
    },
  });
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title={`Remove ${name}`}
      name={name}
      action="Remove"
      run={() => remove.mutate({ params: { domain: name }, body: { name } })}
      change={remove}
    >
      This deletes the domain’s keys and holds emails from it. Keep its DNS records for one more week:
      receivers still check emails in transit.
    </ConfirmTyped>
  );
}
