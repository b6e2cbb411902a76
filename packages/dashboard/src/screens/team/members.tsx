import { Group, Select, Stack, Text } from '@mantine/core';
import { ShieldCheck, ShieldOff, UsersRound } from 'lucide-react';
import { type MemberListed, type Role, ROLES } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { apiUrl, type ApiError, useApiInfinite, useChange, useMay, useProject } from '../../api/index.ts';
import {
  type Column,
  ConfirmTyped,
  DataTable,
  Empty,
  Mark,
  refused,
  undoable,
  When,
} from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

/** Filters that every organization needs. */
const COMMON = [
  { name: 'Owners and admins', filter: 'role:owner,admin' },
  { name: 'Without an authenticator app', filter: 'two_factor:no' },
];

export function Members(): ReactNode {
  const { filter, onFilter } = useListFilter();
  const query = { filter };
  const list = useApiInfinite('GET /projects/:project/members', { query }, { keep: true, everyMs: 10_000 });
  const { id: project } = useProject();
  const mayManage = useMay('admin');
  const isOwner = useProject().role === 'owner';
  const [going, setGoing] = useState<MemberListed | null>(null);
  const setRole = useRoleChange();
  const may: May = {
    touch: (member) => mayManage && (isOwner || member.role !== 'owner'),
    isOwner,
    setRole,
    remove: setGoing,
  };
  return (
    <Stack gap="sm">
      <ListBar
        list="team"
        label="Filter members"
        placeholder="Search by name or address"
        filter={filter}
        onFilter={onFilter}
        fault={list.error}
        common={COMMON}
        csv={
          mayManage ? apiUrl('GET /projects/:project/members.csv', { params: { project }, query }) : undefined
        }
      />
      <DataTable
        label="Members"
        columns={[...FACTS, ...actsOf(may)]}
        list={list}
        rowKey={({ id }) => id}
        empty={<Empty icon={UsersRound} title="No members match this filter" />}
      />
      <RemoveDialog member={going} onClose={() => setGoing(null)} />
    </Stack>
  );
}

const FACTS: Column<MemberListed>[] = [
  { id: 'who', title: 'Member', width: '2fr', cell: (member) => <MemberName member={member} /> },
  {
    id: 'factor',
    title: 'Authenticator app',
    width: '150px',
    cell: (member) => (
      <Mark
        icon={member.two_factor ? ShieldCheck : ShieldOff}
        tone={member.two_factor ? 'good' : 'quiet'}
        label={member.two_factor ? 'Set up' : 'Not set up'}
      />
    ),
  },
  {
    id: 'seen',
    title: 'Last seen',
    width: '140px',
    narrow: 'hide',
    cell: (member) => <When at={member.last_seen_at} none="not yet" />,
  },
];

type May = {
  touch: (member: MemberListed) => boolean;
  isOwner: boolean;
  setRole: (member: MemberListed, role: Role) => void;
  remove: (member: MemberListed) => void;
};

function actsOf({ touch, isOwner, setRole, remove }: May): Column<MemberListed>[] {
  return [
    {
      id: 'role',
      title: 'Role',
      width: '160px',
      cell: (member) =>
        touch(member) ? (
          <RoleSelect member={member} isOwner={isOwner} onRole={(role) => setRole(member, role)} />
        ) : (
          member.role
        ),
    },
    {
      id: 'act',
      title: 'Actions',
      width: '100px',
      align: 'right',
      cell: (member) =>
        touch(member) && (
          <ActButton size="compact-sm" onClick={() => remove(member)}>
            Remove <span className="beckon-visually-hidden">{member.name}</span>
          </ActButton>
        ),
    },
  ];
}

/** Changes a role, with undo for ten seconds. */
function useRoleChange(): (member: MemberListed, role: Role) => void {
  const change = useChange('POST /projects/:project/members/:member/role', {
    optimistic: (cache, { params, body }) =>
      cache.change('GET /projects/:project/members', (page) => ({
        ...page,
        data: page.data.map((member) =>
          member.id === params.member ? { ...member, role: body.role } : member,
        ),
      })),
    refreshes: ['GET /projects/:project/members', 'GET /projects', 'GET /session'],
    onRefused: (error: ApiError) => refused(error),
  });
  const to = (member: MemberListed, role: Role): void =>
    // The callbacks of `mutate` are not called if the list was replaced in the meantime.
    void change.mutateAsync({ params: { member: member.id }, body: { role } }).then(
      () =>
        undoable({
          message: `${member.name} is now ${role}`,
          undo: () => change.mutate({ params: { member: member.id }, body: { role: member.role } }),
        }),
      // Reported by `onRefused`.
      () => undefined,
    );
  return to;
}

function MemberName({ member: { name, email, is_you } }: { member: MemberListed }): ReactNode {
  return (
    <div>
      <Text size="sm">
        {name}
        {is_you && ' (you)'}
      </Text>
      <Muted size="xs">{email}</Muted>
    </div>
  );
}

type RoleSelectProps = { member: MemberListed; isOwner: boolean; onRole: (role: Role) => void };

function RoleSelect({ member, isOwner, onRole }: RoleSelectProps): ReactNode {
  return (
    <Select
      size="xs"
      aria-label={`Role of ${member.name}`}
      data={ROLES.filter((role) => isOwner || role !== 'owner')}
      value={member.role}
      allowDeselect={false}
      onChange={(role) => role && role !== member.role && onRole(role)}
    />
  );
}

function RemoveDialog({ member, onClose }: { member: MemberListed | null; onClose: () => void }): ReactNode {
  const remove = useChange('POST /projects/:project/members/:member/remove', {
    refreshes: ['GET /projects/:project/members'],
    onDone: onClose,
  });
  return (
    <ConfirmTyped
      opened={member !== null}
      onClose={onClose}
      title={`Remove ${member?.name ?? ''}`}
      name={member?.email ?? ''}
      action="Remove"
      run={() => member && remove.mutate({ params: { member: member.id } })}
      change={remove}
    >
      <Group gap={4}>
        Their sessions end immediately, in all projects of the organization. Their actions stay in the audit
        log.
      </Group>
    </ConfirmTyped>
  );
}
