import { Group, Stack, Switch } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ApiKey } from '@beckon/contract/dashboard';
import { apiUrl, useApi, useApiInfinite, useProject } from '../../api/index.ts';
import { DataTable, Empty } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { columnsOf } from './columns.tsx';
import { CreateKey } from './create-key.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { Rotation } from './rotation.tsx';
import { NewButton } from '../../parts/new-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { RolePage } from '../../parts/role-page.tsx';
import { tickProps } from '../../parts/bind.ts';

/** Filters that every project needs. */
const COMMON = [
  { name: 'Active', filter: 'state:active' },
  { name: 'Revoked', filter: 'state:revoked' },
];

export function KeysScreen(): ReactNode {
  const [isCreating, setIsCreating] = useState(false);
  const create = <NewButton onClick={() => setIsCreating(true)}>Create key</NewButton>;
  return (
    <RolePage
      role="admin"
      title="API keys"
      actions={create}
      instead={
        <Empty icon={KeyRound} title="API keys require the admin role">
          Ask an admin of this project for a key or for the role.
        </Empty>
      }
    >
      <Keys create={create} />
      <CreateKey opened={isCreating} onClose={() => setIsCreating(false)} />
    </RolePage>
  );
}

function Keys({ create }: { create: ReactNode }): ReactNode {
  const { filter, onFilter } = useListFilter();
  const { id: project } = useProject();
  const query = { filter };
  const list = useApiInfinite('GET /projects/:project/keys', { query }, { keep: true, everyMs: 30_000 });
  // All keys, whatever the filter shows.
  const all = useApi('GET /projects/:project/keys', {}).data?.data ?? [];
  const [withRevoked, setWithRevoked] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const isWhole = filter !== undefined || withRevoked;
  const rows = list.rows.filter((key) => isWhole || isActive(key));
  return (
    <Stack gap="lg">
      <Muted maw={720}>
        Your servers send users and events with an API key. A key allows nothing else. Use one key per server,
        so that you can revoke each separately. Keys for tests begin with <code>sk_test_</code> and need a{' '}
        <TextLink to="/p/$project/settings/sandbox">sandbox</TextLink>.
      </Muted>
      <Stack gap="sm">
        {(list.rows.length > 0 || filter !== undefined) && (
          <ListBar
            list="keys"
            label="Filter API keys"
            placeholder="Search by label, key or client"
            filter={filter}
            onFilter={onFilter}
            fault={list.error}
            common={COMMON}
            csv={apiUrl('GET /projects/:project/keys.csv', { params: { project }, query })}
          />
        )}
        <DataTable
          label="API keys"
          columns={columnsOf(setRevoking)}
          list={isWhole ? list : { ...list, rows, total: rows.length }}
          rowKey={({ id }) => id}
          empty={
            filter === undefined ? (
              <Empty icon={KeyRound} title="No API keys yet" action={create}>
                Create an API key, then send the first event with it.
              </Empty>
            ) : (
              <Empty icon={KeyRound} title="No API keys match this filter" />
            )
          }
        />
      </Stack>
      {filter === undefined && !list.rows.every(isActive) && (
        <Group>
          <Switch label="Show revoked keys" {...tickProps(withRevoked, setWithRevoked)} />
        </Group>
      )}
      <Rotation keys={all.filter(isActive)} />
      <RevokeKey key={revoking?.id} revoked={revoking} onClose={() => setRevoking(null)} />
    </Stack>
  );
}

function isActive({ revoked_at: at }: ApiKey): boolean {
  return at === null;
}
