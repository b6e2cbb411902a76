import type { WebhookDelivery, WebhookEndpoint } from '@beckon/contract/dashboard';
import { Group, Loader, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApi, useApiInfinite, useChange, useProject } from '../../api/index.ts';
import {
  type Column,
  DataTable,
  Empty,
  Loaded,
  refused,
  SidePanel,
  notify,
  When,
} from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { orderOf, useListLook } from '../../parts/list-look.ts';
import { Attempts, Posted } from './attempts.tsx';
import { DeliveryMark, lastResponse } from './marks.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const route = getRouteApi('/p/$project/webhooks/$endpoint');

/** Filters that every endpoint needs. */
const COMMON = [
  { name: 'Waiting', filter: 'state:pending,delivering' },
  { name: 'Delivered', filter: 'state:delivered' },
  { name: 'Failed', filter: 'state:exhausted' },
  { name: 'Missed', filter: 'state:missed' },
];

export function Deliveries({ endpoint }: { endpoint: WebhookEndpoint }): ReactNode {
  const { delivery, sort = '-at' } = route.useSearch();
  const { filter, onFilter } = useListFilter();
  const navigate = route.useNavigate();
  const { id: project } = useProject();
  const { look, setLook } = useListLook('deliveries');
  const query = { endpoint: endpoint.id, filter, sort };
  const list = useApiInfinite(
    'GET /projects/:project/webhook-deliveries',
    { query },
    { keep: true, everyMs: 5_000 },
  );
  const open = (next: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, delivery: next }), replace: true });
  const order = orderOf(
    sort,
    (by) => void navigate({ search: (was) => ({ ...was, sort: by }), replace: true }),
  );
  return (
    <Stack gap="sm" component="section" aria-labelledby="deliveries">
      <Title order={2} size="h5" id="deliveries">
        Deliveries
      </Title>
      <ListBar
        list="deliveries"
        label="Filter deliveries"
        filter={filter}
        onFilter={onFilter}
        fault={list.error}
        common={COMMON}
        display={{ look, setLook, columns: COLUMNS, ...order }}
        csv={apiUrl('GET /projects/:project/webhook-deliveries.csv', { params: { project }, query })}
      />
      <DataTable
        label="Deliveries"
        columns={COLUMNS}
        list={list}
        look={look}
        {...order}
        rowKey={({ id }) => id}
        current={delivery}
        onOpen={open}
        empty={
          <Empty title={filter === undefined ? 'No deliveries yet' : 'No deliveries match this filter'}>
            Deliveries of this endpoint appear here for 30 days. Send a test event to create one.
          </Empty>
        }
      />
      <SidePanel opened={delivery !== undefined} onClose={() => open(undefined)} title="Delivery" size="xl">
        {delivery !== undefined && <Delivery message={delivery} endpoint={endpoint} />}
      </SidePanel>
    </Stack>
  );
}

const COLUMNS: Column<WebhookDelivery>[] = [
  { id: 'type', title: 'Type', width: '1.4fr', cell: ({ type }) => type },
  { id: 'state', title: 'State', width: '1fr', cell: ({ state }) => <DeliveryMark state={state} /> },
  {
    id: 'last',
    title: 'Last response',
    width: '1.6fr',
    cell: (delivery) => lastResponse(delivery),
  },
  {
    id: 'attempts',
    title: 'Attempts',
    width: '80px',
    align: 'right',
    narrow: 'hide',
    cell: ({ attempts }) => attempts.length,
  },
  { id: 'at', title: 'When', width: '150px', sort: true, cell: ({ created_at: at }) => <When at={at} /> },
];

function Delivery({ message, endpoint }: { message: string; endpoint: WebhookEndpoint }): ReactNode {
  const query = useApi(
    'GET /projects/:project/webhook-deliveries/:message/:endpoint',
    { params: { message, endpoint: endpoint.id } },
    { everyMs: 3_000 },
  );
  const replay = useChange('POST /projects/:project/webhook-replays', {
    refreshes: [
      'GET /projects/:project/webhook-deliveries',
      'GET /projects/:project/webhook-deliveries/:message/:endpoint',
    ],
    onDone: ({ data }) =>
      notify(data.replayed === 0 ? 'The delivery is already in progress' : 'Delivery restarted'),
    onRefused: (error) => refused(error),
  });
  return (
    <Loaded query={query} skeleton={<Loader size="sm" aria-label="Loading" />}>
      {({ data }) => (
        <Stack gap="md">
          <Group justify="space-between">
            <DeliveryMark state={data.state} />
            <ActButton
              icon={RotateCcw}
              change={replay}
              size="xs"
              disabled={endpoint.state === 'disabled' || data.erased}
              onClick={() => replay.mutate({ body: { endpoint: endpoint.id, message: data.id } })}
            >
              Replay
            </ActButton>
          </Group>
          {data.next_attempt_at !== null && (
            <Text size="sm">
              Next attempt <When at={data.next_attempt_at} style="relative" />
            </Text>
          )}
          <Attempts attempts={data.attempts} />
          <Posted body={data.body} isErased={data.erased} />
        </Stack>
      )}
    </Loaded>
  );
}
