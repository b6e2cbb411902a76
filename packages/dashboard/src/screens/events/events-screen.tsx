import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Activity, BadgeCheck, CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EventListed } from '@beckon/contract/dashboard';
import { apiUrl, useApiInfinite, useProject } from '../../api/index.ts';
import {
  type Column,
  DataTable,
  Empty,
  formatCount,
  later,
  Mark,
  Page,
  SidePanel,
  When,
} from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { orderOf, useListLook } from '../../parts/list-look.ts';
import { SAMPLE_USER } from '../../parts/sample-calls.ts';
import { EventPanel } from './event-panel.tsx';
import { Trend } from '../../parts/trend.tsx';

const FirstEvent = later(() => import('../../parts/first-event.tsx'), 'FirstEvent');

const route = getRouteApi('/p/$project/events');

const COLUMNS: Column<EventListed>[] = [
  { id: 'name', title: 'Event', width: '2fr', sort: 'up', cell: ({ name }) => name },
  { id: 'state', title: 'State', width: '170px', cell: (event) => <States event={event} /> },
  {
    id: 'recent',
    title: '30 days',
    width: '190px',
    sort: true,
    cell: ({ days, last_30_days: recent }) => (
      <Trend values={days} label="Events per day, last 30 days" text={formatCount(recent)} />
    ),
  },
  {
    id: 'properties',
    title: 'Properties',
    width: '2fr',
    narrow: 'hide',
    cell: ({ properties }) => properties.map(({ property }) => property).join(', ') || '–',
  },
  {
    id: 'first',
    title: 'First seen',
    width: '120px',
    narrow: 'hide',
    sort: true,
    cell: (event) => <When at={event.first_at} style="day" />,
  },
  {
    id: 'last',
    title: 'Last seen',
    width: '130px',
    sort: true,
    cell: (event) => <When at={event.last_at} style="relative" />,
  },
];

export function EventsScreen(): ReactNode {
  const { event: current, sort = '-recent' } = route.useSearch();
  const { filter, onFilter } = useListFilter();
  const navigate = route.useNavigate();
  const { id: project } = useProject();
  const query = { filter, sort };
  const list = useApiInfinite('GET /projects/:project/events', { query }, { keep: true });
  const { look, setLook } = useListLook('events');
  const order = orderOf(
    sort,
    (by) => void navigate({ search: (was) => ({ ...was, sort: by }), replace: true }),
  );
  const open = (event: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, event }), replace: true });
  return (
    <Page title="Events">
      <Stack gap="sm">
        <ListBar
          list="events"
          label="Filter events"
          placeholder="Search by name or property"
          filter={filter}
          onFilter={onFilter}
          fault={list.error}
          display={{ look, setLook, columns: COLUMNS, ...order }}
          csv={apiUrl('GET /projects/:project/events.csv', { params: { project }, query })}
        />
        <DataTable
          label="Events"
          columns={COLUMNS}
          list={list}
          look={look}
          {...order}
          rowKey={({ name }) => name}
          onOpen={open}
          current={current}
          onCurrent={open}
          empty={<None isFiltered={filter !== undefined} />}
        />
      </Stack>
      <SidePanel opened={current !== undefined} onClose={() => open(undefined)} title={current ?? ''}>
        {current !== undefined && <EventPanel key={current} name={current} />}
      </SidePanel>
    </Page>
  );
}

function States({ event: { canonical, expected, drift } }: { event: EventListed }): ReactNode {
  if (drift.length > 0)
    return (
      <Mark
        icon={TriangleAlert}
        tone="warn"
        label={drift.some(({ kind }) => kind === 'stopped') ? 'Stopped' : 'Changed'}
      />
    );
  if (expected) return <Mark icon={CircleCheck} tone="good" label="Expected" />;
  return canonical ? <Mark icon={BadgeCheck} tone="info" label="Canonical" /> : '–';
}

const TRIAL = [
  {
    path: 'events',
    body: { external_user_id: SAMPLE_USER, name: 'trial_started', properties: { trialDays: 14 } },
  },
];

function None({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty icon={Activity} title="No events match this filter" />;
  return (
    <Empty icon={Activity} title="No events yet" action={<FirstEvent calls={TRIAL} />}>
      Events appear here with their properties when your server sends them.
    </Empty>
  );
}
