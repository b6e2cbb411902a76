import type { WebhookEndpoint } from '@beckon/contract/dashboard';
import { Button, Menu } from '@mantine/core';
import { ChevronDown, Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type ReadKey, useChange } from '../../api/index.ts';
import { refused, told } from '../../parts/index.ts';
import { DeleteEndpoint, EditEndpoint, ReplayDialog, RotateSecret } from './endpoint-dialogs.tsx';

/** What is old after something was done to an endpoint. */
const FOLLOWS: ReadKey[] = [
  'GET /projects/:project/webhooks',
  'GET /projects/:project/webhooks/:endpoint',
  'GET /projects/:project/webhook-deliveries',
];

type Dialog = 'edit' | 'rotate' | 'delete' | 'replay' | null;

export function EndpointActs({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  const [dialog, setDialog] = useState<Dialog>(null);
  const params = { endpoint: endpoint.id };
  const { test, enable, disable } = useSwitches();
  const isEnabled = endpoint.state === 'enabled';
  const close = (): void => setDialog(null);
  return (
    <>
      <Button
        variant="default"
        leftSection={<Send size={15} aria-hidden="true" />}
        disabled={!isEnabled}
        loading={test.isPending}
        onClick={() => test.mutate({ params })}
      >
        Send a test event
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={15} aria-hidden="true" />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setDialog('edit')}>Edit…</Menu.Item>
          <Menu.Item onClick={() => setDialog('replay')} disabled={!isEnabled}>
            Replay…
          </Menu.Item>
          <Menu.Item onClick={() => setDialog('rotate')}>New secret…</Menu.Item>
          <Menu.Divider />
          {isEnabled ? (
            <Menu.Item onClick={() => disable.mutate({ params })}>Disable</Menu.Item>
          ) : (
            <Menu.Item onClick={() => enable.mutate({ params })}>Enable</Menu.Item>
          )}
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setDialog('delete')}>
            Delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <EditEndpoint endpoint={endpoint} opened={dialog === 'edit'} onClose={close} />
      <RotateSecret endpoint={endpoint} opened={dialog === 'rotate'} onClose={close} />
      <ReplayDialog endpoint={endpoint} opened={dialog === 'replay'} onClose={close} />
      <DeleteEndpoint endpoint={endpoint} opened={dialog === 'delete'} onClose={close} />
    </>
  );
}

function useSwitches() {
  const test = useChange('POST /projects/:project/webhooks/:endpoint/test', {
    refreshes: FOLLOWS,
    onDone: ({ data: { state, attempts } }) => {
      const answer = attempts.at(-1);
      const said = answer?.status ?? answer?.error ?? 'nothing';
      told(state === 'delivered' ? `The test event was taken: ${said}` : `The test event failed: ${said}`);
    },
    onRefused: (error) => refused(error),
  });
  const enable = useChange('POST /projects/:project/webhooks/:endpoint/enable', {
    refreshes: FOLLOWS,
    onDone: () => told('It is told again. What it missed stays missed until you replay it.'),
    onRefused: (error) => refused(error),
  });
  const disable = useChange('POST /projects/:project/webhooks/:endpoint/disable', {
    refreshes: FOLLOWS,
    onDone: ({ data: { missed } }) =>
      told(`Nothing is sent to it any more. ${missed} that waited are missed.`),
    onRefused: (error) => refused(error),
  });
  return { test, enable, disable };
}
