import type { Relay } from '@beckon/contract/dashboard';
import { Alert, Menu, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { PlugZap, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi, useChange, useMay } from '../../api/index.ts';
import { ConfirmTyped, Loaded, later, notify, Page, refused, When } from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { MoreMenu } from '../../parts/more-menu.tsx';
import { RelayMark, usesOf } from './marks.tsx';
import { RelayFeedback } from './relay-feedback.tsx';
import { RelayRecords } from './relay-records.tsx';
import { RelayUse } from './relay-use.tsx';

const NewRelay = later(() => import('./new-relay.tsx'), 'NewRelay');
const RelaySettings = later(() => import('./relay-settings.tsx'), 'RelaySettings');

const route = getRouteApi('/p/$project/settings/relays/$relay');

export function RelayScreen(): ReactNode {
  const { project, relay } = route.useParams();
  const navigate = route.useNavigate();
  if (relay !== 'new') return <ExistingRelay key={relay} id={relay} />;
  return (
    <NewRelay
      onAdded={({ id }) =>
        void navigate({ to: '/p/$project/settings/relays/$relay', params: { project, relay: id } })
      }
    />
  );
}

function ExistingRelay({ id }: { id: string }): ReactNode {
  const query = useApi(
    'GET /projects/:project/relays/:relay',
    { params: { relay: id } },
    { everyMs: 15_000 },
  );
  const relay = query.data?.data;
  const { setup, isAdmin, mayChange, kind } = useSetup(relay);
  return (
    <Page
      title={relay?.name ?? 'Relay'}
      beside={relay && <RelayMark relay={relay} />}
      actions={relay && isAdmin ? <RelayActs relay={relay} mayChange={mayChange} /> : undefined}
    >
      <Loaded query={query}>
        {({ data }) => (
          <Stack gap="lg" maw={860}>
            <Trouble relay={data} />
            <Facts facts={factsOf(data)} />
            {data.kind !== 'smtp_url' && (
              <RelayUse relay={data} mayChange={isAdmin} isOperator={setup?.operator === true} />
            )}
            {isAdmin && (
              <>
                <RelayFeedback relay={data} mayChange={mayChange} />
                <RelayRecords relay={data} />
              </>
            )}
            {mayChange && kind && <RelaySettings key={data.changed_at} relay={data} kind={kind} />}
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

/** The kind of the relay, and what the member may do with it. */
function useSetup(relay: Relay | undefined) {
  const setup = useApi('GET /projects/:project/relay-setup', {}).data?.data;
  const isAdmin = useMay('admin');
  const mayChange = isAdmin && (relay?.owner === 'project' || setup?.operator === true);
  const kind = setup?.kinds.find((info) => info.kind === relay?.kind);
  return { setup, isAdmin, mayChange, kind };
}

function Trouble({ relay: { state, failure, failing_since: since } }: { relay: Relay }): ReactNode {
  if (failure === null) return null;
  return (
    <Alert
      variant="outline"
      color="red"
      icon={<TriangleAlert size={18} aria-hidden="true" />}
      title={state === 'failing' ? 'Sending is paused because this relay fails' : 'The last test failed'}
    >
      {failure}
      {state === 'failing' && (
        <>
          {' '}
          It failed first <When at={since} style="relative" />. Emails wait and are sent when it works again.
        </>
      )}
    </Alert>
  );
}

function factsOf(relay: Relay) {
  return [
    { label: 'Provider', value: relay.title },
    { label: 'Used by', value: usesOf(relay) },
    { label: 'Last test', value: <When at={relay.checked_at} style="relative" none="never" /> },
    { label: 'Settings changed', value: <When at={relay.changed_at} style="relative" /> },
  ];
}

function RelayActs({ relay, mayChange }: { relay: Relay; mayChange: boolean }): ReactNode {
  const navigate = route.useNavigate();
  const [isRemoving, setIsRemoving] = useState(false);
  const params = { relay: relay.id };
  const test = useChange('POST /projects/:project/relays/:relay/test', {
    refreshes: ['GET /projects/:project/relays', 'GET /projects/:project/relays/:relay'],
    onDone: ({ data }) => notify(data.ok ? `Test passed. ${data.message}` : `Test failed. ${data.message}`),
    onRefused: (error) => refused(error),
  });
  const remove = useChange('DELETE /projects/:project/relays/:relay', {
    refreshes: ['GET /projects/:project/relays'],
    onDone: () => {
      notify(`${relay.name} deleted`);
      void navigate({ to: '/p/$project/settings/relays', params: true });
    },
  });
  return (
    <>
      <ActButton icon={PlugZap} change={test} onClick={() => test.mutate({ params })}>
        Test
      </ActButton>
      {mayChange && (
        <MoreMenu>
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setIsRemoving(true)}>
            Delete…
          </Menu.Item>
        </MoreMenu>
      )}
      <ConfirmTyped
        opened={isRemoving}
        onClose={() => setIsRemoving(false)}
        title={`Delete ${relay.name}`}
        name={relay.name}
        action="Delete"
        run={() => remove.mutate({ params, body: { name: relay.name } })}
        change={remove}
      >
        This deletes the relay and its credentials. A relay that is in use cannot be deleted.
      </ConfirmTyped>
    </>
  );
}
