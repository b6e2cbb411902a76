import { MailPlus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import { DataTable, Empty, listOf, refused, notify, When } from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';

export function Invites({ onInvite }: { onInvite: () => void }): ReactNode {
  const invites = useApi('GET /projects/:project/invites', {}, { everyMs: 10_000 });
  const revoke = useChange('POST /projects/:project/invites/:invite/revoke', {
    optimistic: (cache, { params }) =>
      cache.change('GET /projects/:project/invites', (page) => ({
        ...page,
        data: page.data.filter(({ id }) => id !== params.invite),
      })),
    refreshes: ['GET /projects/:project/invites'],
    onDone: () => notify('Invitation revoked'),
    onRefused: (error) => refused(error),
  });
  return (
    <DataTable
      label="Invitations"
      noKeys
      columns={[
        { id: 'email', title: 'To', width: '2fr', cell: (invite) => invite.email },
        { id: 'role', title: 'Role', width: '120px', cell: (invite) => invite.role },
        { id: 'by', title: 'By', width: '140px', narrow: 'hide', cell: (invite) => invite.by ?? 'a command' },
        { id: 'until', title: 'Expires', width: '150px', cell: (invite) => <When at={invite.expires_at} /> },
        {
          id: 'act',
          title: 'Actions',
          width: '100px',
          align: 'right',
          cell: (invite) => (
            <ActButton size="compact-sm" onClick={() => revoke.mutate({ params: { invite: invite.id } })}>
              Revoke <span className="beckon-visually-hidden">the invitation to {invite.email}</span>
            </ActButton>
          ),
        },
      ]}
      list={listOf(invites.data?.data ?? [], invites)}
      rowKey={({ id }) => id}
      empty={
        <Empty
          icon={MailPlus}
          title="No open invitations"
          action={<ActButton onClick={onInvite}>Invite team member</ActButton>}
        >
          Invite team members by email. Their link works once, for seven days.
        </Empty>
      }
    />
  );
}
