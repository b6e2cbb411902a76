import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { SuppressionListed } from '@beckon/contract/dashboard';
import { Ban, Clock, Mail, User, UserX } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi, useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { type Column, DataTable, Empty, FilterBox, Mark, SidePanel, When } from '../../parts/index.ts';
import { actorWords } from '../../parts/actor-words.ts';
import { RemoveDialog } from './remove-dialog.tsx';
import { REASONS, subjectName } from './words.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const route = getRouteApi('/p/$project/suppressions');

const HINTS = [
  'email:*@example.org · user:42',
  'reason:unsubscribed,complained,manual,hard_bounce,soft_bounces,snoozed',
  'kind:email · kind:user',
  'erased:yes · erased:no',
  '-by:engine',
];

const keyOf = ({ kind, value, hash }: Pick<SuppressionListed, 'kind' | 'value' | 'hash'>): string =>
  `${kind} ${value ?? `hash:${hash}`}`;

export function SuppressionList(): ReactNode {
  const { filter, row } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useApiInfinite('GET /projects/:project/suppressions', { query: { filter } }, { keep: true });
  const open = (key: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, row: key }), replace: true });
  const chosen = list.rows.find((entry) => keyOf(entry) === row);
  return (
    <Stack gap="sm">
      <FilterBox
        value={filter}
        onChange={(next) =>
          void navigate({ search: (was) => ({ ...was, filter: next, row: undefined }), replace: true })
        }
        fault={list.error}
        hints={HINTS}
        label="Filter suppressions"
        placeholder="email:*@example.org"
      />
      <DataTable
        label="Suppressions"
        columns={COLUMNS}
        list={list}
        rowKey={keyOf}
        onOpen={open}
        empty={
          filter === undefined ? <None /> : <Empty icon={Ban} title="No suppressions match this filter" />
        }
        {...(row === undefined ? {} : { current: row })}
      />
      <SidePanel opened={chosen !== undefined} onClose={() => open(undefined)} title="Suppression">
        {chosen && <SuppressionPanel suppression={chosen} onRemoved={() => open(undefined)} />}
      </SidePanel>
    </Stack>
  );
}

const COLUMNS: Column<SuppressionListed>[] = [
  { id: 'value', title: 'Address or user', width: '3fr', cell: (row) => <Subject suppression={row} /> },
  {
    id: 'kind',
    title: 'Kind',
    width: '120px',
    cell: ({ kind }) =>
      kind === 'email' ? (
        <Mark icon={Mail} tone="quiet" label="Address" />
      ) : (
        <Mark icon={User} tone="quiet" label="User" />
      ),
  },
  {
    id: 'reason',
    title: 'Reason',
    width: '2fr',
    cell: ({ reason, in_force: holds }) =>
      holds ? (
        <Mark icon={Ban} tone="warn" label={REASONS[reason]} />
      ) : (
        <Mark icon={Clock} tone="quiet" label={`${REASONS[reason]}, ended`} />
      ),
  },
  {
    id: 'by',
    title: 'By',
    width: '1fr',
    narrow: 'hide',
    cell: ({ created_by_name: name }) => actorWords(name),
  },
  { id: 'since', title: 'Since', width: '130px', cell: ({ created_at: at }) => <When at={at} style="day" /> },
  {
    id: 'until',
    title: 'Until',
    width: '130px',
    cell: ({ until }) => <When at={until} style="day" none="permanent" />,
  },
];

function Subject({ suppression }: { suppression: SuppressionListed }): ReactNode {
  const name = subjectName(suppression);
  return suppression.value === null ? <Mark icon={UserX} tone="quiet" label={name} /> : name;
}

function None(): ReactNode {
  const { id } = useProject();
  const state = useApi('GET /projects/:project/suppressions/state', {});
  const imported = state.data?.data.imported_at ?? null;
  return (
    <Empty
      icon={Ban}
      title="No suppressions yet"
      {...(imported === null ? { command: importCommand(id) } : {})}
    >
      Addresses that unsubscribe, complain or bounce are added automatically.
      {imported === null &&
        ' Before you send the first email, import the suppression list of your previous email service.'}
    </Empty>
  );
}

function importCommand(project: number): string {
  return `beckon suppressions import --project ${project} unsubscribed.csv --dry-run`;
}

function effectOf({ kind, value, from_erased: fromErased }: SuppressionListed): string {
  if (value === null)
    return kind === 'email'
      ? 'The user was erased, and their address is kept only as a hash. No email is sent to a new user with this address.'
      : 'The user was erased, and their id is kept only as a hash. No email is sent to a new user with this id.';
  const effect =
    kind === 'email'
      ? 'No email is sent to any user with this address.'
      : 'No email is sent to this user, whatever their address.';
  return fromErased ? `${effect} The suppression was made for a user who has been erased since.` : effect;
}

type SuppressionPanelProps = { suppression: SuppressionListed; onRemoved: () => void };

function SuppressionPanel({ suppression, onRemoved }: SuppressionPanelProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const mayRemove = useMay('admin');
  const { reason, until, created_at: since, created_by_name: by, kind, in_force: holds } = suppression;
  return (
    <Stack gap="lg">
      <Facts
        cols={2}
        facts={[
          { label: kind === 'email' ? 'Address' : 'User', value: subjectName(suppression) },
          { label: 'Reason', value: REASONS[reason] },
          { label: 'Since', value: <When at={since} style="long" /> },
          { label: 'Until', value: <When at={until} style="long" none="permanent" /> },
          { label: 'By', value: actorWords(by) },
          { label: 'State', value: holds ? 'In force' : 'Ended' },
        ]}
      />
      <Muted>{effectOf(suppression)}</Muted>
      {mayRemove && (
        <ActButton w="fit-content" onClick={() => setOpen(true)}>
          Remove suppression
        </ActButton>
      )}
      <RemoveDialog
        suppression={suppression}
        opened={isOpen}
        onClose={() => setOpen(false)}
        onRemoved={() => {
          setOpen(false);
          onRemoved();
        }}
      />
    </Stack>
  );
}
