import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Activity, BadgeCheck, CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EventListed } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import {
  type Column,
  DataTable,
  Empty,
  FindBox,
  formatCount,
  listOf,
  Mark,
  Page,
  SidePanel,
  When,
} from '../../parts/index.ts';
import { curlOf, SAMPLE_USER } from '../../parts/sample-calls.ts';
import { useSample } from '../../parts/use-sample.ts';
import { EventPanel } from './event-panel.tsx';
import { Trend } from '../../parts/trend.tsx';

const route = getRouteApi('/p/$project/events');

const COLUMNS: Column<EventListed>[] = [
  { id: 'name', title: 'Event', width: '2fr', cell: ({ name }) => name },
  { id: 'state', title: 'State', width: '170px', cell: (event) => <States event={event} /> },
  {
    id: 'recent',
    title: '30 days',
    width: '190px',
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
    cell: (event) => <When at={event.first_at} style="day" />,
  },
  {
    id: 'last',
    title: 'Last seen',
    width: '130px',
    cell: (event) => <When at={event.last_at} style="relative" />,
  },
];

export function EventsScreen(): ReactNode {
  const { filter = '', event: current } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useApi('GET /projects/:project/events', {});
  const rows = (query.data?.data ?? []).filter(({ name, properties }) =>
    [name, ...properties.map(({ property }) => property)].some((text) => text.includes(filter)),
  );
  const open = (event: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, event }), replace: true });
  return (
    <Page title="Events">
      <Stack gap="sm">
        <FindBox
          label="Search events"
          placeholder="Search by name or property"
          value={filter}
          onFind={(text) => void navigate({ search: (was) => ({ ...was, filter: text }), replace: true })}
        />
        <DataTable
          label="Events"
          columns={COLUMNS}
          list={listOf(rows, query)}
          rowKey={({ name }) => name}
          onOpen={open}
          current={current}
          onCurrent={open}
          empty={<None isFiltered={filter !== ''} />}
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

const TRIAL = { external_user_id: SAMPLE_USER, name: 'trial_started', properties: { trialDays: 14 } };

function None({ isFiltered }: { isFiltered: boolean }): ReactNode {
  const { url } = useSample();
  if (isFiltered) return <Empty icon={Activity} title="No events match" />;
  return (
    <Empty icon={Activity} title="No events yet" command={curlOf({ url }, 'events', TRIAL)}>
      Events appear here with their properties when your server sends them.
    </Empty>
  );
}
