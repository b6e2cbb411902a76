import { Stack } from '@mantine/core';
import { UsersRound } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AudienceMemberListed } from '@beckon/contract/dashboard';
import { apiUrl, useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, When } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { useListLook } from '../../parts/list-look.ts';
import { TwoLines } from '../../parts/two-lines.tsx';

const COLUMNS: Column<AudienceMemberListed>[] = [
  {
    id: 'user',
    title: 'User',
    width: '2fr',
    cell: ({ external_user_id: id, name }) => <TwoLines first={id} second={name ?? undefined} />,
  },
  { id: 'email', title: 'Email', width: '2fr', cell: ({ email }) => email ?? '–' },
  { id: 'since', title: 'Since', width: '180px', cell: ({ since }) => <When at={since} /> },
];

export function Members({ audience }: { audience: string }): ReactNode {
  const { filter, onFilter } = useListFilter();
  const project = String(useProject().id);
  const mayExport = useMay('admin');
  const query = { filter };
  const list = useApiInfinite(
    'GET /projects/:project/audiences/:audience/members',
    { params: { audience }, query },
    { keep: true },
  );
  const { look, setLook } = useListLook('audience_members');
  const csv = apiUrl('GET /projects/:project/audiences/:audience/members.csv', {
    params: { project, audience },
    query,
  });
  return (
    <Stack gap="sm">
      {(list.rows.length > 0 || filter !== undefined) && (
        <ListBar
          list="audience_members"
          label="Filter members"
          placeholder="Search by user ID, name or address"
          filter={filter}
          onFilter={onFilter}
          fault={list.error}
          display={{ look, setLook, columns: COLUMNS }}
          csv={mayExport ? csv : undefined}
        />
      )}
      <DataTable
        label="Members"
        columns={COLUMNS}
        list={list}
        look={look}
        rowKey={({ external_user_id: id }) => id}
        link={({ external_user_id: user }) => ({ to: '/p/$project/users/$user', params: { project, user } })}
        empty={
          <Empty
            icon={UsersRound}
            title={filter === undefined ? 'This audience has no members' : 'No members match this filter'}
          />
        }
      />
    </Stack>
  );
}
