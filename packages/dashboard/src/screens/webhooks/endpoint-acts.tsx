import type { WebhookEndpoint } from '@beckon/contract/dashboard';
import { Menu } from '@mantine/core';
import { Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type ReadKey, useChange } from '../../api/index.ts';
import { later, refused, notify, WhenOpened } from '../../parts/index.ts';
import { MoreMenu } from '../../parts/more-menu.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const EditEndpoint = later(() => import('./endpoint-dialogs.tsx'), 'EditEndpoint', null);
const RotateSecret = later(() => import('./endpoint-dialogs.tsx'), 'RotateSecret', null);
const ReplayDialog = later(() => import('./endpoint-dialogs.tsx'), 'ReplayDialog', null);
const DeleteEndpoint = later(() => import('./endpoint-dialogs.tsx'), 'DeleteEndpoint', null);

/** The queries that a change of an endpoint makes stale. */
const FOLLOWS: ReadKey[] = [
  'GET /projects/:project/webhooks',
  'GET /projects/:project/webhooks/:endpoint',
  'GET /projects/:project/webhook-deliveries',
];

const DIALOGS = [
  ['edit', EditEndpoint],
  ['rotate', RotateSecret],
  ['replay', ReplayDialog],
  ['delete', DeleteEndpoint],
] as const;

export function EndpointActs({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  const [dialog, setDialog] = useState<(typeof DIALOGS)[number][0] | null>(null);
  const params = { endpoint: endpoint.id };
  const { test, enable, disable } = useSwitches();
  const isEnabled = endpoint.state === 'enabled';
  return (
    <>
      <ActButton icon={Send} change={test} disabled={!isEnabled} onClick={() => test.mutate({ params })}>
        Send test event
      </ActButton>
      <MoreMenu>
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
      </MoreMenu>
      {DIALOGS.map(([name, Dialog]) => (
        <WhenOpened key={name} opened={dialog === name}>
          <Dialog endpoint={endpoint} opened={dialog === name} onClose={() => setDialog(null)} />
        </WhenOpened>
      ))}
    </>
  );
}

function useSwitches() {
  const test = useChange('POST /projects/:project/webhooks/:endpoint/test', {
    refreshes: FOLLOWS,
    onDone: ({ data: { state, attempts } }) => {
      const attempt = attempts.at(-1);
      const result = attempt?.status ?? attempt?.error ?? 'no answer';
      notify(state === 'delivered' ? `Test event delivered: ${result}` : `Test event failed: ${result}`);
    },
    onRefused: (error) => refused(error),
  });
  const enable = useChange('POST /projects/:project/webhooks/:endpoint/enable', {
    refreshes: FOLLOWS,
    onDone: () => notify('Endpoint enabled. Missed events are not resent. Use Replay.'),
    onRefused: (error) => refused(error),
  });
  const disable = useChange('POST /projects/:project/webhooks/:endpoint/disable', {
    refreshes: FOLLOWS,
    onDone: ({ data: { missed } }) =>
      notify(`Endpoint disabled. ${missed} waiting deliveries were marked as missed.`),
    onRefused: (error) => refused(error),
  });
  return { test, enable, disable };
}
