import { Group, Stack, Switch } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ApiKey } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { DataTable, Empty, listOf, Loaded } from '../../parts/index.ts';
import { columnsOf } from './columns.tsx';
import { CreateKey } from './create-key.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { Rotation } from './rotation.tsx';
import { NewButton } from '../../parts/new-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { RolePage } from '../../parts/role-page.tsx';
import { tickProps } from '../../parts/bind.ts';

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
  const query = useApi('GET /projects/:project/keys', {}, { everyMs: 30_000 });
  const [withRevoked, setWithRevoked] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  return (
    <Loaded query={query}>
      {({ data }) => (
        <Stack gap="lg">
          <KeysTable
            keys={data.filter((key) => withRevoked || key.revoked_at === null)}
            create={create}
            onRevoke={setRevoking}
          />
          {data.some((key) => key.revoked_at !== null) && (
            <Group>
              <Switch label="Show revoked keys" {...tickProps(withRevoked, setWithRevoked)} />
            </Group>
          )}
          <Rotation keys={data.filter((key) => key.revoked_at === null)} />
          <RevokeKey key={revoking?.id} revoked={revoking} onClose={() => setRevoking(null)} />
        </Stack>
      )}
    </Loaded>
  );
}

type TableProps = { keys: ApiKey[]; create: ReactNode; onRevoke: (key: ApiKey) => void };

function KeysTable({ keys, create, onRevoke }: TableProps): ReactNode {
  return (
    <>
      <Muted maw={720}>
        Your servers send users and events with an API key. A key allows nothing else. Use one key per server,
        so that you can revoke each separately. Keys for tests begin with <code>sk_test_</code> and need a{' '}
        <TextLink to="/p/$project/settings/sandbox">sandbox</TextLink>.
      </Muted>
      <DataTable
        label="API keys"
        columns={columnsOf(onRevoke)}
        list={listOf(keys)}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={KeyRound} title="No API keys yet" action={create}>
            Create an API key, then send the first event with it.
          </Empty>
        }
      />
    </>
  );
}
