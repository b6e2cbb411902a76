import { Button, Stack, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Ban, PauseCircle, Users } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { UserListed } from '@beckon/contract/dashboard';
import { apiUrl, useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, formatCount, later, Mark, Page, When } from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { ListBar } from '../../parts/list-bar.tsx';
import { orderOf, useListLook } from '../../parts/list-look.ts';
import { SAMPLE_USER } from '../../parts/sample-calls.ts';
import { useSample } from '../../parts/use-sample.ts';
import { SuppressDialog } from './suppress-dialog.tsx';

const FirstEvent = later(() => import('../../parts/first-event.tsx'), 'FirstEvent');

const route = getRouteApi('/p/$project/users');

/** Hidden until a member shows them. */
const HIDDEN = ['role'];

const COLUMNS: Column<UserListed>[] = [
  { id: 'user', title: 'User', width: '2fr', sort: 'up', cell: (user) => user.external_user_id },
  { id: 'email', title: 'Email', width: '2fr', cell: (user) => user.email ?? '–' },
  { id: 'name', title: 'Name', width: '1fr', narrow: 'hide', cell: (user) => user.name ?? '–' },
  { id: 'plan', title: 'Plan', width: '110px', cell: (user) => user.plan ?? '–' },
  { id: 'company', title: 'Company', width: '1fr', narrow: 'hide', cell: (user) => user.company ?? '–' },
  { id: 'role', title: 'Role', width: '1fr', narrow: 'hide', cell: (user) => user.role ?? '–' },
  {
    id: 'first',
    title: 'First seen',
    width: '130px',
    narrow: 'hide',
    sort: true,
    cell: (user) => <When at={user.first_seen_at} style="day" />,
  },
  {
    id: 'seen',
    title: 'Last seen',
    width: '130px',
    cell: (user) => <When at={user.last_seen_at} style="relative" />,
  },
  {
    id: 'state',
    title: 'Can trigger rules',
    width: '130px',
    narrow: 'hide',
    cell: (user) => (user.triggers_suppressed ? <Mark icon={PauseCircle} tone="warn" label="No" /> : 'Yes'),
  },
];

export function UsersScreen(): ReactNode {
  const { filter, user: current, sort = 'user' } = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const mayManage = useMay('admin');
  const [chosen, setChosen] = useState(new Set<string>());
  const list = useApiInfinite('GET /projects/:project/users', { query: { filter, sort } }, { keep: true });
  const { look, setLook } = useListLook('users', HIDDEN);
  const setFilter = (next: string | undefined): void => {
    setChosen(new Set());
    void navigate({ search: (was) => ({ ...was, filter: next, user: undefined }), replace: true });
  };
  const order = orderOf(
    sort,
    (by) => void navigate({ search: (was) => ({ ...was, sort: by }), replace: true }),
  );
  const csv = apiUrl('GET /projects/:project/users.csv', {
    params: { project: project.id },
    query: { filter, sort },
  });
  return (
    <Page title="Users" fill beside={!list.isPending && !list.error && <Count list={list} />}>
      <Stack gap="sm" mih={0} flex={1}>
        <ListBar
          list="users"
          label="Filter users"
          filter={filter}
          onFilter={setFilter}
          fault={list.error}
          display={{ look, setLook, columns: COLUMNS, ...order }}
          csv={mayManage ? csv : undefined}
        >
          {mayManage && <Suppressing chosen={chosen} onDone={() => setChosen(new Set())} />}
        </ListBar>
        <DataTable
          label="Users"
          fill
          columns={COLUMNS}
          list={list}
          look={look}
          {...order}
          rowKey={(user) => user.external_user_id}
          link={(user) => ({
            to: '/p/$project/users/$user',
            params: { project: String(project.id), user: user.external_user_id },
          })}
          current={current}
          onCurrent={(user) => void navigate({ search: (was) => ({ ...was, user }), replace: true })}
          {...(mayManage ? { chosen, onChosen: setChosen } : {})}
          empty={
            <NoUsers filter={filter} project={String(project.id)} onClear={() => setFilter(undefined)} />
          }
        />
      </Stack>
    </Page>
  );
}

function Count({ list }: { list: { total: number; isAtLeast: boolean } }): ReactNode {
  return (
    <Text size="sm" c="dimmed" component="span">
      {formatCount(list.total, list.isAtLeast)}
    </Text>
  );
}

function Suppressing({ chosen, onDone }: { chosen: Set<string>; onDone: () => void }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {chosen.size > 0 && (
        <Button
          variant="default"
          c="var(--mantine-color-error)"
          leftSection={<Ban size={14} aria-hidden="true" />}
          onClick={() => setOpen(true)}
        >
          Suppress {formatCount(chosen.size)}
        </Button>
      )}
      <SuppressDialog opened={isOpen} users={[...chosen]} onClose={() => setOpen(false)} onDone={onDone} />
    </>
  );
}

type NoUsersProps = { filter: string | undefined; project: string; onClear: () => void };

function NoUsers({ filter, project, onClear }: NoUsersProps): ReactNode {
  const { email } = useSample();
  if (filter !== undefined)
    return (
      <Empty
        icon={Users}
        title="No users match this filter"
        action={<ActButton onClick={onClear}>Show all users</ActButton>}
      />
    );
  return (
    <Empty
      icon={Users}
      title="No users yet"
      action={
        <FirstEvent
          calls={[
            { path: 'users', body: { external_user_id: SAMPLE_USER, email, traits: { plan: 'trial' } } },
          ]}
        />
      }
    >
      Users appear when your server sends them.{' '}
      <Link to="/p/$project/settings/api-keys" params={{ project }}>
        Create an API key
      </Link>{' '}
      first.
    </Empty>
  );
}
