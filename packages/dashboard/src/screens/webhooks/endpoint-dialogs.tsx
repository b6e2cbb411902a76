import type { WebhookEndpoint } from '@beckon/contract/dashboard';
import { Modal, Radio, Select, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type ReadKey, useChange, useProject } from '../../api/index.ts';
import { ConfirmTyped, notify } from '../../parts/index.ts';
import { SecretOnce, useSecretOnce } from '../../parts/secret-once.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Muted } from '../../parts/muted.tsx';
import { choiceProps } from '../../parts/bind.ts';

type Props = { endpoint: WebhookEndpoint; opened: boolean; onClose: () => void };

const ENDPOINTS: ReadKey[] = ['GET /projects/:project/webhooks', 'GET /projects/:project/webhooks/:endpoint'];

export function EditEndpoint({ endpoint, opened, onClose }: Props): ReactNode {
  const edit = useChange('PATCH /projects/:project/webhooks/:endpoint', {
    refreshes: ENDPOINTS,
    onDone: () => {
      notify('Saved. Waiting deliveries use the new settings.');
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Edit endpoint">
      <EndpointForm
        endpoint={endpoint}
        action="Save"
        change={edit}
        onSave={(body) => edit.mutate({ params: { endpoint: endpoint.id }, body })}
        onClose={onClose}
      />
    </Modal>
  );
}

const OVERLAPS = [
  { value: '24', label: 'for 24 more hours' },
  { value: '168', label: 'for 7 more days' },
  { value: '1', label: 'for one more hour' },
  { value: '0', label: 'end it now' },
];

export function RotateSecret({ endpoint, opened, onClose }: Props): ReactNode {
  const [hours, setHours] = useState('24');
  const { secret, show, close } = useSecretOnce(onClose);
  const rotate = useChange('POST /projects/:project/webhooks/:endpoint/rotate', {
    refreshes: ENDPOINTS,
    onDone: ({ data }) => show(data.secret),
  });
  const run = (): void =>
    rotate.mutate({ params: { endpoint: endpoint.id }, body: { overlap_hours: Number(hours) } });
  return (
    <>
      <Modal opened={opened && secret === null} onClose={onClose} title="Create a new secret">
        <Stack gap="md">
          <Text size="sm">
            The new secret signs deliveries from now on. While both secrets are valid, each delivery has two
            signatures; verify either one.
          </Text>
          <Select label="Keep the old secret" data={OVERLAPS} {...choiceProps(hours, setHours)} />
          <DialogAction change={rotate} run={run} onCancel={onClose}>
            Create new secret
          </DialogAction>
        </Stack>
      </Modal>
      <SecretOnce title="New secret" secret={secret} variable="BECKON_WEBHOOK_SECRET" onClose={close} />
    </>
  );
}

const HOUR_MS = 3_600_000;
const SINCE = [
  { value: '1', label: 'the last hour' },
  { value: '24', label: 'the last 24 hours' },
  { value: '168', label: 'the last 7 days' },
  { value: '719', label: 'the last 30 days' },
];

/** Resends many deliveries. A single one is resent from its panel. */
export function ReplayDialog({ endpoint, opened, onClose }: Props): ReactNode {
  const [what, setWhat] = useState<'failed' | 'missed' | 'history'>('failed');
  const [hours, setHours] = useState('24');
  const replay = useChange('POST /projects/:project/webhook-replays', {
    refreshes: ['GET /projects/:project/webhook-deliveries', ...ENDPOINTS],
    onDone: ({ data: { replayed } }) => {
      notify(
        replayed === 1 ? '1 delivery restarted' : `${replayed.toLocaleString('en-GB')} deliveries restarted`,
      );
      onClose();
    },
  });
  const run = (): void => {
    const since = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
    const filters = {
      failed: { since, states: ['exhausted' as const] },
      missed: { missed: true as const },
      history: { since, history: true },
    };
    replay.mutate({ body: { endpoint: endpoint.id, ...filters[what] } });
  };
  return (
    <Modal opened={opened} onClose={onClose} title="Replay deliveries">
      <Stack gap="md">
        <Radio.Group label="Deliveries" value={what} onChange={(value) => setWhat(value as typeof what)}>
          <Stack gap="xs" mt="xs">
            <Radio value="failed" label="Failed deliveries" />
            <Radio value="missed" label="All events missed while the endpoint was disabled" />
            <Radio value="history" label="Also events from before this endpoint was created" />
          </Stack>
        </Radio.Group>
        {what !== 'missed' && <Select label="Period" data={SINCE} {...choiceProps(hours, setHours)} />}
        <Muted>
          Sends the same ids and bodies to the current URL. A receiver that stores ids can ignore duplicates.
        </Muted>
        <DialogAction change={replay} run={run} onCancel={onClose}>
          Replay
        </DialogAction>
      </Stack>
    </Modal>
  );
}

export function DeleteEndpoint({ endpoint, opened, onClose }: Props): ReactNode {
  const project = useProject();
  const navigate = useNavigate();
  const remove = useChange('DELETE /projects/:project/webhooks/:endpoint', {
    refreshes: ['GET /projects/:project/webhooks'],
    onDone: () => {
      notify('Endpoint deleted');
      void navigate({ to: '/p/$project/webhooks', params: { project: String(project.id) } });
    },
  });
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title="Delete endpoint"
      name={endpoint.url}
      action="Delete"
      run={() => remove.mutate({ params: { endpoint: endpoint.id }, body: { url: endpoint.url } })}
      change={remove}
    >
      This deletes its secrets and cancels waiting deliveries. Past deliveries are stored for 30 days.
    </ConfirmTyped>
  );
}
