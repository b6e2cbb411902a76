import type { WebhookEndpoint } from '@beckon/contract/dashboard';
import { Modal, Stack, Text } from '@mantine/core';
import { Webhook } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, useApiInfinite, useChange, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, When } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointMark } from './marks.tsx';
import { Verify } from './verify.tsx';
import { outcomeWords } from '../../parts/codes.ts';
import { NewButton } from '../../parts/new-button.tsx';
import { TwoLines } from '../../parts/two-lines.tsx';
import { RolePage } from '../../parts/role-page.tsx';

/** Filters that every project needs. */
const COMMON = [
  { name: 'Disabled', filter: 'state:disabled' },
  { name: 'Failing', filter: 'failing:yes' },
];

export function WebhooksScreen(): ReactNode {
  const [isAdding, setIsAdding] = useState(false);
  const add = <NewButton onClick={() => setIsAdding(true)}>Add endpoint</NewButton>;
  return (
    <RolePage
      role="admin"
      title="Webhooks"
      actions={add}
      instead={
        <Empty icon={Webhook} title="Webhooks require the admin role">
          Endpoint URLs and deliveries can contain secrets.
        </Empty>
      }
    >
      <Endpoints add={add} />
      <AddEndpoint opened={isAdding} onClose={() => setIsAdding(false)} />
    </RolePage>
  );
}

function Endpoints({ add }: { add: ReactNode }): ReactNode {
  const { filter, onFilter } = useListFilter();
  const { id: project } = useProject();
  const query = { filter };
  const list = useApiInfinite('GET /projects/:project/webhooks', { query }, { keep: true, everyMs: 15_000 });
  return (
    <Stack gap="xl">
      <Stack gap="sm">
        {(list.rows.length > 0 || filter !== undefined) && (
          <ListBar
            list="endpoints"
            label="Filter endpoints"
            placeholder="Search by URL or description"
            filter={filter}
            onFilter={onFilter}
            fault={list.error}
            common={COMMON}
            csv={apiUrl('GET /projects/:project/webhooks.csv', { params: { project }, query })}
          />
        )}
        <DataTable
          label="Endpoints"
          columns={COLUMNS}
          list={list}
          rowKey={({ id }) => id}
          link={({ id }) => ({
            to: '/p/$project/webhooks/$endpoint',
            params: { project: String(project), endpoint: id },
          })}
          empty={
            filter === undefined ? (
              <None add={add} />
            ) : (
              <Empty icon={Webhook} title="No endpoints match this filter" />
            )
          }
        />
      </Stack>
      <Verify />
    </Stack>
  );
}

function None({ add }: { add: ReactNode }): ReactNode {
  return (
    <Empty icon={Webhook} title="No webhook endpoints yet" action={add}>
      Add an endpoint to receive opens, clicks, replies, bounces and unsubscribes.
    </Empty>
  );
}

const COLUMNS: Column<WebhookEndpoint>[] = [
  {
    id: 'url',
    title: 'Endpoint',
    width: '2.4fr',
    cell: ({ url, description }) => <TwoLines first={url} second={description} />,
  },
  { id: 'state', title: 'Health', width: '1.4fr', cell: (endpoint) => <EndpointMark endpoint={endpoint} /> },
  {
    id: 'types',
    title: 'Events',
    width: '1.2fr',
    narrow: 'hide',
    cell: ({ types }) => (types === null ? 'all' : types.map(outcomeWords).join(', ')),
  },
  {
    id: 'success',
    title: 'Last success',
    width: '120px',
    cell: ({ last_success_at: at }) => <When at={at} style="relative" none="never" />,
  },
];

function AddEndpoint({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [secret, setSecret] = useState<string | null>(null);
  const add = useChange('POST /projects/:project/webhooks', {
    refreshes: ['GET /projects/:project/webhooks'],
    onDone: ({ data }) => setSecret(data.secret),
  });
  const close = (): void => {
    setSecret(null);
    add.reset();
    onClose();
  };
  return (
    <>
      <Modal opened={opened && secret === null} onClose={close} title="Add endpoint">
        <EndpointForm
          action="Add endpoint"
          change={add}
          onSave={(body) => add.mutate({ body })}
          onClose={close}
        />
      </Modal>
      <SecretOnce title="Signing secret" secret={secret} variable="BECKON_WEBHOOK_SECRET" onClose={close}>
        <Text size="sm">
          It signs every delivery. The section below the list shows how to verify deliveries.
        </Text>
      </SecretOnce>
    </>
  );
}
