import { Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { DecidedDraft, ReviewAction } from '@beckon/contract/dashboard';
import { CalendarClock, Check, History, type LucideIcon, Pencil, SkipForward } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { useApiInfinite, useFeed, useProject, useRefresh } from '../../api/index.ts';
import { type Column, DataTable, Empty, type Failed, Mark, type Tone, When } from '../../parts/index.ts';
import { stateWords, capital } from '../../parts/codes.ts';
import { draftReasonWords } from '../../parts/draft-words.ts';
import { Muted } from '../../parts/muted.tsx';
import { TwoLines } from '../../parts/two-lines.tsx';
import { DECIDED } from './decided-words.ts';

const route = getRouteApi('/p/$project/review');

/** What members decided about drafts, newest first. */
export function Decided({ onFault }: { onFault: (fault: Failed | null) => void }): ReactNode {
  const { filter } = route.useSearch();
  const project = String(useProject().id);
  const query = filter === undefined ? {} : { filter };
  const list = useApiInfinite('GET /projects/:project/review/decided', { query }, { keep: true });
  const refresh = useRefresh();
  useFeed(
    ({ type }) => type === 'draft_changed',
    () => void refresh('GET /projects/:project/review/decided'),
  );
  const { error } = list;
  useEffect(() => onFault(error), [error, onFault]);
  return (
    <DataTable
      fill
      label="Decided drafts"
      columns={COLUMNS}
      list={list}
      rowKey={({ id }) => id}
      link={({ draft }) => ({ to: '/p/$project/drafts/$draft', params: { project, draft: draft.id } })}
      empty={<None isFiltered={filter !== undefined} />}
    />
  );
}

const MARKS: Record<ReviewAction, { icon: LucideIcon; tone: Tone }> = {
  approve: { icon: Check, tone: 'good' },
  edit: { icon: Pencil, tone: 'info' },
  skip: { icon: SkipForward, tone: 'quiet' },
  postpone: { icon: CalendarClock, tone: 'warn' },
};

const COLUMNS: Column<DecidedDraft>[] = [
  {
    id: 'action',
    title: 'Decision',
    width: '130px',
    cell: ({ action }) => <Mark {...MARKS[action]} label={capital(DECIDED[action])} />,
  },
  {
    id: 'draft',
    title: 'Draft',
    width: '2fr',
    cell: ({ draft, rule }) => <TwoLines first={draft.subject} second={rule.name} />,
  },
  {
    id: 'user',
    title: 'User',
    width: '1.4fr',
    cell: ({ user: { name, email, external_user_id: id } }) => (
      <TwoLines first={name ?? email ?? id} second={name === null ? undefined : (email ?? id)} />
    ),
  },
  { id: 'detail', title: 'Detail', width: '1.6fr', wraps: true, cell: (row) => <Detail row={row} /> },
  { id: 'by', title: 'By', width: '1fr', cell: ({ by }) => by },
  { id: 'at', title: 'Time', width: '130px', cell: ({ at }) => <When at={at} /> },
];

/** The reason of a skip, the time of a postponement, and otherwise what became of the draft. */
function Detail({ row: { action, reason, until, draft } }: { row: DecidedDraft }): ReactNode {
  if (action === 'skip')
    return reason === null ? <Muted>No reason given</Muted> : <Text size="sm">{reason}</Text>;
  if (action === 'postpone' && until !== null)
    return (
      <Text size="sm">
        To <When at={until} />
      </Text>
    );
  const held = draft.state === 'held' && draft.reason !== null ? `: ${draftReasonWords(draft.reason)}` : '';
  return <Muted>{`Now ${stateWords(draft.state)}${held}`}</Muted>;
}

function None({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty icon={History} title="No decisions match this filter" />;
  return (
    <Empty icon={History} title="No decisions yet">
      Drafts that members approve, edit, skip or postpone are listed here, with who decided and when.
    </Empty>
  );
}
