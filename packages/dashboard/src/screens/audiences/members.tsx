import { UsersRound } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AudienceMember } from '@beckon/contract/dashboard';
import { useApiInfinite, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, When } from '../../parts/index.ts';

const COLUMNS: Column<AudienceMember>[] = [
  { id: 'user', title: 'User', width: '2fr', cell: ({ external_user_id: id }) => id },
  { id: 'since', title: 'Since', width: '180px', cell: ({ since }) => <When at={since} /> },
];

export function Members({ audience }: { audience: string }): ReactNode {
  const project = String(useProject().id);
  const list = useApiInfinite('GET /projects/:project/audiences/:audience/members', { params: { audience } });
  return (
    <DataTable
      label="Members"
      columns={COLUMNS}
      list={list}
      rowKey={({ external_user_id: id }) => id}
      link={({ external_user_id: user }) => ({ to: '/p/$project/users/$user', params: { project, user } })}
      empty={<Empty icon={UsersRound} title="This audience has no members" />}
    />
  );
}
