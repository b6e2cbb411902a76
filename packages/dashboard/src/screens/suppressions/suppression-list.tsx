import { Button, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { BULK_MAX_ROWS, type SuppressionListed } from '@beckon/contract/dashboard';
import { Ban, Clock, Mail, Trash2, User, UserX } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, useApi, useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { Facts } from '../../parts/facts.tsx';
import {
  type Column,
  DataTable,
  Empty,
  formatCount,
  later,
  Mark,
  SidePanel,
  When,
  WhenOpened,
} from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { orderOf, useListLook } from '../../parts/list-look.ts';
import { actorWords } from '../../parts/actor-words.ts';
import { REASONS, subjectName } from './words.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const RemoveDialog = later(() => import('./remove-dialog.tsx'), 'RemoveDialog', null);
const BulkRemoveDialog = later(() => import('./bulk-remove-dialog.tsx'), 'BulkRemoveDialog', null);

const route = getRouteApi('/p/$project/suppressions');

/** Filters that every project needs. */
const COMMON = [
  { name: 'Unsubscribed or complained', filter: 'reason:unsubscribed,complained' },
  { name: 'Bounced', filter: 'reason:hard_bounce,soft_bounces' },
  { name: 'Added by a member', filter: 'reason:manual' },
];

const keyOf = ({ kind, value, hash }: Pick<SuppressionListed, 'kind' | 'value' | 'hash'>): string =>
  `${kind} ${value ?? `hash:${hash}`}`;

export function SuppressionList(): ReactNode {
  const { filter, row, sort = 'value' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = { filter, sort };
  const list = useApiInfinite('GET /projects/:project/suppressions', { query }, { keep: true });
  const { id: project } = useProject();
  const mayRemove = useMay('admin');
  const { look, setLook } = useListLook('suppressions');
  const [chosen, setChosen] = useState(new Set<string>());
  const open = (key: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, row: key }), replace: true });
  const current = list.rows.find((entry) => keyOf(entry) === row);
  const order = orderOf(
    sort,
    (by) => void navigate({ search: (was) => ({ ...was, sort: by }), replace: true }),
  );
  const csv = apiUrl('GET /projects/:project/suppressions.csv', { params: { project }, query });
  return (
    <Stack gap="sm">
      <ListBar
        list="suppressions"
        label="Filter suppressions"
        filter={filter}
        onFilter={(next) => {
          setChosen(new Set());
          void navigate({ search: (was) => ({ ...was, filter: next, row: undefined }), replace: true });
        }}
        fault={list.error}
        common={COMMON}
        display={{ look, setLook, columns: COLUMNS, ...order }}
        csv={mayRemove ? csv : undefined}
      >
        {mayRemove && (
          <Removing
            entries={list.rows.filter((entry) => chosen.has(keyOf(entry)))}
            onDone={() => setChosen(new Set())}
          />
        )}
      </ListBar>
      <DataTable
        label="Suppressions"
        columns={COLUMNS}
        list={list}
        look={look}
        {...order}
        {...(mayRemove ? { chosen, onChosen: setChosen } : {})}
        rowKey={keyOf}
        onOpen={open}
        empty={
          filter === undefined ? <None /> : <Empty icon={Ban} title="No suppressions match this filter" />
        }
        {...(row === undefined ? {} : { current: row })}
      />
      <Opened suppression={current} onClose={() => open(undefined)} />
    </Stack>
  );
}

const COLUMNS: Column<SuppressionListed>[] = [
  {
    id: 'value',
    title: 'Address or user',
    width: '3fr',
    sort: 'up',
    cell: (row) => <Subject suppression={row} />,
  },
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
  {
    id: 'since',
    title: 'Since',
    width: '130px',
    sort: true,
    cell: ({ created_at: at }) => <When at={at} style="day" />,
  },
  {
    id: 'until',
    title: 'Until',
    width: '130px',
    cell: ({ until }) => <When at={until} style="day" none="permanent" />,
  },
];

type OpenedProps = { suppression: SuppressionListed | undefined; onClose: () => void };

function Opened({ suppression, onClose }: OpenedProps): ReactNode {
  return (
    <SidePanel opened={suppression !== undefined} onClose={onClose} title="Suppression">
      {suppression && <SuppressionPanel suppression={suppression} onRemoved={onClose} />}
    </SidePanel>
  );
}

type RemovingProps = { entries: SuppressionListed[]; onDone: () => void };

function Removing({ entries, onDone }: RemovingProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {entries.length > 0 && (
        <Button
          variant="default"
          c="var(--mantine-color-error)"
          leftSection={<Trash2 size={14} aria-hidden="true" />}
          disabled={entries.length > BULK_MAX_ROWS}
          onClick={() => setOpen(true)}
        >
          {entries.length > BULK_MAX_ROWS
            ? `Select at most ${BULK_MAX_ROWS}`
            : `Remove ${formatCount(entries.length)}…`}
        </Button>
      )}
      <WhenOpened opened={isOpen}>
        <BulkRemoveDialog opened={isOpen} entries={entries} onClose={() => setOpen(false)} onDone={onDone} />
      </WhenOpened>
    </>
  );
}

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
      <WhenOpened opened={isOpen}>
        <RemoveDialog
          suppression={suppression}
          opened={isOpen}
          onClose={() => setOpen(false)}
          onRemoved={() => {
            setOpen(false);
            onRemoved();
          }}
        />
      </WhenOpened>
    </Stack>
  );
}
