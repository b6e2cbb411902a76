import { ActionIcon, Group, Text } from '@mantine/core';
import { CalendarClock, GripVertical } from 'lucide-react';
import type { ScheduledDraft } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useApiInfinite, useMay } from '../../api/index.ts';
import { type Column, DataTable, Empty, Person, When } from '../../parts/index.ts';
import { ForecastText } from '../../parts/policy-effect.tsx';
import { reasonWords } from '../../parts/policy-words.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { DRAGGED } from './ribbon.tsx';
import classes from './ribbon.module.css';

export type Planned = {
  from?: string | undefined;
  to?: string | undefined;
  result: 'sends' | 'held' | 'expires';
};

type Props = {
  query: Planned;
  label: string;
  /** Called when a row is dragged. */
  onDrag: (draft: ScheduledDraft) => void;
  onPostpone: (draft: ScheduledDraft) => void;
};

/** The drafts of one bar of the timeline. */
export function PlannedDrafts({ query, label, onDrag, onPostpone }: Props): ReactNode {
  const mayPostpone = useMay('reviewer');
  const list = useApiInfinite('GET /projects/:project/schedule/drafts', { query }, { keep: true });
  const email: Column<ScheduledDraft> = {
    id: 'email',
    title: 'Email',
    width: '2fr',
    cell: (row) => (
      <Group gap={6} wrap="nowrap">
        {mayPostpone && <Grip row={row} onDrag={onDrag} />}
        <Text size="sm" truncate component="span">
          <TextLink inherit to="/p/$project/drafts/$draft" params={{ draft: row.id }}>
            {row.subject || 'No subject yet'}
          </TextLink>
        </Text>
      </Group>
    ),
  };
  const act: Column<ScheduledDraft> = {
    id: 'act',
    title: 'Postpone',
    width: '84px',
    cell: (row) => <PostponeButton row={row} onOpen={() => onPostpone(row)} />,
  };
  return (
    <DataTable
      label={label}
      columns={[email, ...COLUMNS, ...(mayPostpone ? [act] : [])]}
      list={list}
      rowKey={(row) => row.id}
      empty={<Empty title="No emails planned here">Select another hour.</Empty>}
    />
  );
}

const COLUMNS: Column<ScheduledDraft>[] = [
  {
    id: 'to',
    title: 'To',
    width: '1.4fr',
    cell: (row) => <Person id={row.external_user_id} name={row.email} />,
  },
  { id: 'rule', title: 'Rule', width: '1fr', narrow: 'hide', cell: (row) => row.rule },
  {
    id: 'due',
    title: 'Deadline',
    width: '130px',
    narrow: 'hide',
    cell: (row) => <When at={row.deadline_at} theirZone={row.zone} />,
  },
  { id: 'forecast', title: 'Send time', width: '1.2fr', cell: (row) => <Leaves row={row} /> },
];

function PostponeButton({ row, onOpen }: { row: ScheduledDraft; onOpen: () => void }): ReactNode {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`Postpone the draft for ${row.external_user_id}`}
      onClick={onOpen}
    >
      <CalendarClock size={16} aria-hidden="true" />
    </ActionIcon>
  );
}

function Grip({ row, onDrag }: { row: ScheduledDraft; onDrag: Props['onDrag'] }): ReactNode {
  return (
    <span
      className={classes.grip}
      draggable
      title="Drag onto an hour to postpone"
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED, row.id);
        event.dataTransfer.effectAllowed = 'move';
        onDrag(row);
      }}
    >
      <GripVertical size={14} aria-hidden="true" />
    </span>
  );
}

function Leaves({ row: { forecast, zone } }: { row: ScheduledDraft }): ReactNode {
  if (forecast.result !== 'sends') return <ForecastText forecast={forecast} />;
  return (
    <Text size="sm" component="span" truncate>
      <When at={forecast.at} theirZone={zone} />
      {forecast.reason !== null && ` (${reasonWords(forecast.reason)})`}
    </Text>
  );
}
