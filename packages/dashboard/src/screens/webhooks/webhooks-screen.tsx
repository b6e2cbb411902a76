import type { WebhookEndpoint } from '@beckon/contract/dashboard';
import { Button, Modal, Stack, Text } from '@mantine/core';
import { Plus, Webhook } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi, useChange, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, listOf, Loaded, Page, When } from '../../parts/index.ts';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointMark } from './marks.tsx';
import { Verify } from './verify.tsx';
import { outcomeWords } from '../../parts/codes.ts';

export function WebhooksScreen(): ReactNode {
  const may = useMay('admin');
  const [isAdding, setIsAdding] = useState(false);
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden="true" />} onClick={() => setIsAdding(true)}>
      Add endpoint
    </Button>
  );
  return (
    <Page title="Webhooks" actions={may ? add : undefined}>
      {may ? (
        <Endpoints add={add} />
      ) : (
        <Empty icon={Webhook} title="Webhooks require the admin role">
          Endpoint URLs and deliveries can contain secrets.
        </Empty>
      )}
      <AddEndpoint opened={isAdding} onClose={() => setIsAdding(false)} />
    </Page>
  );
}

function Endpoints({ add }: { add: ReactNode }): ReactNode {
  const project = useProject();
  const query = useApi('GET /projects/:project/webhooks', {}, { everyMs: 15_000 });
  return (
    <Loaded query={query}>
      {({ data }) => (
        <Stack gap="xl">
          <DataTable
            label="Endpoints"
            columns={COLUMNS}
            list={listOf(data)}
            rowKey={({ id }) => id}
            link={({ id }) => ({
              to: '/p/$project/webhooks/$endpoint',
              params: { project: String(project.id), endpoint: id },
            })}
            empty={
              <Empty icon={Webhook} title="No webhook endpoints yet" action={add}>
                Add an endpoint to receive opens, clicks, replies, bounces and unsubscribes.
              </Empty>
            }
          />
          <Verify />
        </Stack>
      )}
    </Loaded>
  );
}

const COLUMNS: Column<WebhookEndpoint>[] = [
  {
    id: 'url',
    title: 'Endpoint',
    width: '2.4fr',
    cell: ({ url, description }) => (
      <Stack gap={0} style={{ minWidth: 0 }}>
        <Text size="sm" fw={500} truncate>
          {url}
        </Text>
        {description !== '' && (
          <Text size="xs" c="dimmed" truncate>
            {description}
          </Text>
        )}
      </Stack>
    ),
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
          isSaving={add.isPending}
          error={add.error}
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
