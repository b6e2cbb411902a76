import type { WebhookEndpoint } from '@beckon/contract/dashboard';
import { Button, Modal, Radio, Select, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type ReadKey, useChange, useProject } from '../../api/index.ts';
import { ConfirmTyped, DialogFoot, ErrorBox, told } from '../../parts/index.ts';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { EndpointForm } from './endpoint-form.tsx';

type Props = { endpoint: WebhookEndpoint; opened: boolean; onClose: () => void };

const ENDPOINTS: ReadKey[] = ['GET /projects/:project/webhooks', 'GET /projects/:project/webhooks/:endpoint'];

export function EditEndpoint({ endpoint, opened, onClose }: Props): ReactNode {
  const edit = useChange('PATCH /projects/:project/webhooks/:endpoint', {
    refreshes: ENDPOINTS,
    onDone: () => {
      told('Saved. What waits goes to the new place.');
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Edit the endpoint">
      <EndpointForm
        endpoint={endpoint}
        action="Save"
        isSaving={edit.isPending}
        error={edit.error}
        onSave={(body) => edit.mutate({ params: { endpoint: endpoint.id }, body })}
        onClose={onClose}
      />
    </Modal>
  );
}

const OVERLAPS = [
  { value: '24', label: 'for 24 hours more' },
  { value: '168', label: 'for 7 days more' },
  { value: '1', label: 'for an hour more' },
  { value: '0', label: 'no longer: it ends now' },
];

export function RotateSecret({ endpoint, opened, onClose }: Props): ReactNode {
  const [hours, setHours] = useState('24');
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useChange('POST /projects/:project/webhooks/:endpoint/rotate', {
    refreshes: ENDPOINTS,
    onDone: ({ data }) => setSecret(data.secret),
  });
  const run = (): void =>
    rotate.mutate({ params: { endpoint: endpoint.id }, body: { overlap_hours: Number(hours) } });
  return (
    <>
      <Modal opened={opened && secret === null} onClose={onClose} title="Make a new secret">
        <Stack gap="md">
          <Text size="sm">
            The new secret signs from now on. While both are live each delivery carries two signatures, and
            one that fits is enough.
          </Text>
          <Select
            label="The old secret goes on"
            data={OVERLAPS}
            value={hours}
            onChange={(value) => setHours(value ?? '24')}
            allowDeselect={false}
          />
          {rotate.error && <ErrorBox error={rotate.error} />}
          <DialogFoot onCancel={onClose}>
            <Button onClick={run} loading={rotate.isPending}>
              Make a new secret
            </Button>
          </DialogFoot>
        </Stack>
      </Modal>
      <SecretOnce
        title="The new secret"
        secret={secret}
        variable="BECKON_WEBHOOK_SECRET"
        onClose={() => {
          setSecret(null);
          onClose();
        }}
      />
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

/** One delivery is sent again from its own panel; these are many. */
export function ReplayDialog({ endpoint, opened, onClose }: Props): ReactNode {
  const [what, setWhat] = useState<'failed' | 'missed' | 'history'>('failed');
  const [hours, setHours] = useState('24');
  const replay = useChange('POST /projects/:project/webhook-replays', {
    refreshes: ['GET /projects/:project/webhook-deliveries', ...ENDPOINTS],
    onDone: ({ data: { replayed } }) => {
      told(
        replayed === 1
          ? '1 delivery begins anew'
          : `${replayed.toLocaleString('en-GB')} deliveries begin anew`,
      );
      onClose();
    },
  });
  const run = (): void => {
    const since = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
    const asked = {
      failed: { since, states: ['exhausted' as const] },
      missed: { missed: true as const },
      history: { since, history: true },
    };
    replay.mutate({ body: { endpoint: endpoint.id, ...asked[what] } });
  };
  return (
    <Modal opened={opened} onClose={onClose} title="Send again">
      <Stack gap="md">
        <Radio.Group label="What" value={what} onChange={(value) => setWhat(value as typeof what)}>
          <Stack gap="xs" mt="xs">
            <Radio value="failed" label="What failed" />
            <Radio value="missed" label="All that was missed while it was disabled" />
            <Radio value="history" label="Also what came before this endpoint was made" />
          </Stack>
        </Radio.Group>
        {what !== 'missed' && (
          <Select
            label="Of"
            data={SINCE}
            value={hours}
            onChange={(value) => setHours(value ?? '24')}
            allowDeselect={false}
          />
        )}
        <Text size="sm" c="dimmed">
          The same ids and bodies, to where the endpoint is now. Who remembers ids does nothing twice.
        </Text>
        {replay.error && <ErrorBox error={replay.error} />}
        <DialogFoot onCancel={onClose}>
          <Button onClick={run} loading={replay.isPending}>
            Send again
          </Button>
        </DialogFoot>
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
      told('The endpoint is deleted');
      void navigate({ to: '/p/$project/webhooks', params: { project: String(project.id) } });
    },
  });
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title="Delete the endpoint"
      name={endpoint.url}
      action="Delete"
      run={() => remove.mutate({ params: { endpoint: endpoint.id }, body: { url: endpoint.url } })}
      isRunning={remove.isPending}
      error={remove.error}
    >
      Its secrets go with it, and what waits for it is canceled. What was delivered stays to be looked at for
      30 days.
    </ConfirmTyped>
  );
}
