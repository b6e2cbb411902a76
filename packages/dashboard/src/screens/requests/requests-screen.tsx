import type { IngestRequest } from '@beckon/contract/dashboard';
import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { CircleCheck, CircleX, Plug, RotateCcw } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApiInfinite, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, Mark, Page, SidePanel, When } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { orderOf, useListLook } from '../../parts/list-look.ts';
import { RequestPanel } from './request-panel.tsx';
import { Warnings } from './warnings.tsx';
import { spaced } from '../../parts/codes.ts';

const route = getRouteApi('/p/$project/requests');

export function RequestsScreen(): ReactNode {
  const { request, sort = '-at' } = route.useSearch();
  const { filter, onFilter } = useListFilter();
  const navigate = route.useNavigate();
  const { id: project } = useProject();
  const { look, setLook } = useListLook('requests');
  const query = { filter, sort };
  const list = useApiInfinite(
    'GET /projects/:project/requests',
    { query },
    { keep: true, everyMs: 5_000, limit: 100 },
  );
  const open = (next: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, request: next }), replace: true });
  const order = orderOf(
    sort,
    (by) => void navigate({ search: (was) => ({ ...was, sort: by }), replace: true }),
  );
  return (
    <Page title="Requests" fill>
      <Stack gap="sm">
        <Warnings />
        <ListBar
          list="requests"
          label="Filter requests"
          filter={filter}
          onFilter={onFilter}
          fault={list.error}
          common={COMMON}
          display={{ look, setLook, columns: COLUMNS, ...order }}
          csv={apiUrl('GET /projects/:project/requests.csv', { params: { project }, query })}
        />
      </Stack>
      <DataTable
        fill
        label="Requests"
        columns={COLUMNS}
        list={list}
        look={look}
        {...order}
        rowKey={({ place }) => place}
        current={request}
        onOpen={open}
        empty={<None isFiltered={filter !== undefined} />}
      />
      <SidePanel opened={request !== undefined} onClose={() => open(undefined)} title="Request" size="lg">
        {request !== undefined && (
          <RequestPanel position={request} row={list.rows.find(({ place }) => place === request)} />
        )}
      </SidePanel>
    </Page>
  );
}

const COMMON = [
  { name: 'Refused by the API', filter: 'status:4*' },
  { name: 'Server errors', filter: 'status:5*' },
  { name: 'Rate limited', filter: 'code:rate_limited' },
];

function None({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty icon={Plug} title="No requests match this filter" />;
  return (
    <Empty icon={Plug} title="No requests yet">
      Requests of your servers appear here with their responses. Create an API key to send users and events.
    </Empty>
  );
}

export function StatusMark({ request: { status, code, replayed } }: { request: IngestRequest }): ReactNode {
  if (replayed) return <Mark icon={RotateCcw} tone="quiet" label={`${status} replayed`} />;
  const label = code === null ? String(status) : `${status} ${spaced(code)}`;
  if (status < 300) return <Mark icon={CircleCheck} tone="good" label={label} />;
  return <Mark icon={CircleX} tone={status < 500 ? 'warn' : 'bad'} label={label} />;
}

const COLUMNS: Column<IngestRequest>[] = [
  { id: 'at', title: 'When', width: '150px', sort: true, cell: ({ at }) => <When at={at} /> },
  { id: 'status', title: 'Response', width: '1.6fr', cell: (request) => <StatusMark request={request} /> },
  { id: 'endpoint', title: 'Endpoint', width: '1fr', cell: ({ endpoint }) => endpoint },
  {
    id: 'records',
    title: 'Records',
    width: '1fr',
    align: 'right',
    narrow: 'hide',
    cell: ({ accepted, rejected }) =>
      rejected === 0 ? accepted.toLocaleString('en-GB') : `${accepted}, ${rejected} rejected`,
  },
  { id: 'count', title: 'Requests', width: '80px', align: 'right', cell: ({ requests }) => requests },
  {
    id: 'key',
    title: 'Key',
    width: '1fr',
    narrow: 'hide',
    cell: ({ key }) => (key === null ? '–' : (key.label ?? key.id)),
  },
  {
    id: 'ms',
    title: 'Slowest',
    width: '80px',
    align: 'right',
    narrow: 'hide',
    cell: ({ slowest_ms: ms }) => (ms === null ? '–' : `${ms} ms`),
  },
];
