import type { FeedItem } from '@beckon/contract/dashboard';
import { Button, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Pause, Play, Radio } from 'lucide-react';
import type { ReactNode } from 'react';
import {
  type Column,
  DataTable,
  Empty,
  formatCount,
  later,
  listOf,
  Page,
  Shortcut,
  SidePanel,
  useKeys,
  When,
} from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { firstCalls } from '../../parts/sample-calls.ts';
import { useSample } from '../../parts/use-sample.ts';
import { ItemPanel } from './item-panel.tsx';
import { Started } from './started.tsx';
import { type Tail, TAIL_MAX } from './tail.ts';
import { TypeMark } from './type-mark.tsx';
import { useRate, useTail } from './use-tail.ts';
import { wordsOf } from './words.ts';

const FirstEvent = later(() => import('../../parts/first-event.tsx'), 'FirstEvent');

const route = getRouteApi('/p/$project/activity');
/** Filters that every project needs. */
const COMMON = [
  { name: 'Events', filter: 'type:event' },
  { name: 'Drafts and emails', filter: 'type:draft,draft_changed,email,outcome' },
  { name: 'Refused requests', filter: 'status:4*' },
];

export function LiveScreen(): ReactNode {
  const { item } = route.useSearch();
  const { filter, onFilter } = useListFilter();
  const navigate = route.useNavigate();
  const { tail, start, pause, resume } = useTail(filter);
  const open = (next: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, item: next }), replace: true });
  const toggle = tail.isPaused ? resume : pause;
  useKeys('Live', { p: { label: tail.isPaused ? 'Resume' : 'Pause', run: toggle } });
  return (
    <Page
      title="Live activity"
      beside={<RateLine />}
      actions={<PauseButton tail={tail} onToggle={toggle} />}
      fill
    >
      <Stack gap={4}>
        <ListBar
          list="activity"
          label="Filter activity"
          filter={filter}
          onFilter={onFilter}
          fault={start.error}
          common={COMMON}
        />
        <Waiting tail={tail} />
      </Stack>
      <DataTable
        fill
        label="Activity"
        columns={COLUMNS}
        list={listOf(tail.items, {
          isPending: start.isPending,
          error: start.error?.field === 'filter' ? null : start.error,
          refetch: () => start.refetch(),
        })}
        rowKey={({ place }) => place}
        current={item}
        onOpen={open}
        empty={<Nothing isFiltered={filter !== undefined} />}
      />
      <SidePanel
        opened={item !== undefined}
        onClose={() => open(undefined)}
        title="Activity details"
        size="xl"
      >
        {item !== undefined && <ItemPanel position={item} />}
      </SidePanel>
    </Page>
  );
}

function RateLine(): ReactNode {
  const rate = useRate();
  return (
    <Text size="sm" c="dimmed" component="span">
      {rate === 0
        ? 'idle'
        : `${rate < 10 ? rate.toFixed(1) : formatCount(Math.round(rate))} items per second`}
    </Text>
  );
}

function PauseButton({ tail, onToggle }: { tail: Tail; onToggle: () => void }): ReactNode {
  const Icon = tail.isPaused ? Play : Pause;
  return (
    <Button
      variant="default"
      leftSection={<Icon size={15} aria-hidden="true" />}
      rightSection={<Shortcut keys="p" />}
      onClick={onToggle}
      aria-pressed={tail.isPaused}
    >
      {tail.isPaused ? 'Resume' : 'Pause'}
    </Button>
  );
}

/** Announced to screen readers only while paused; a running stream would never be silent. */
function Waiting({ tail: { isPaused, waited } }: { tail: Tail }): ReactNode {
  const kept = waited > TAIL_MAX ? `, only the newest ${formatCount(TAIL_MAX)} are kept` : '';
  return (
    <Text size="sm" aria-live="polite">
      {isPaused ? `Paused: ${waited === 0 ? 'no' : formatCount(waited)} new items${kept}` : ''}
    </Text>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }): ReactNode {
  const { email, newUser } = useSample();
  if (isFiltered)
    return (
      <Empty icon={Radio} title="No recent activity matches this filter">
        New matching items appear here immediately.
      </Empty>
    );
  return (
    <Empty
      icon={Radio}
      title="No activity yet"
      action={<FirstEvent calls={firstCalls({ user: newUser, email })} what="first call" />}
    >
      Requests, events, drafts and outcomes appear here as they happen.
    </Empty>
  );
}

const COLUMNS: Column<FeedItem>[] = [
  { id: 'at', title: 'When', width: '120px', cell: ({ at }) => <When at={at} style="clock" /> },
  { id: 'type', title: 'Type', width: '150px', cell: ({ type }) => <TypeMark type={type} /> },
  {
    id: 'user',
    title: 'User',
    width: '1fr',
    cell: ({ external_user_id: user }) => user ?? '–',
  },
  {
    id: 'words',
    title: 'Summary',
    width: '3fr',
    cell: (item) => (
      <>
        {wordsOf(item)}
        {item.started && (
          <>
            {' · '}
            <Started rules={item.started} />
          </>
        )}
      </>
    ),
  },
];
